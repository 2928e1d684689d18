/**
 * All hostile servers. Their names differ: `program` finds the server that it plays by its name, and `HostileServers` meets them one after
 * another.
 */
import { attacks as answers } from "./Answers.js"
import { attacks as http } from "./Http.js"
import { attacks as modern } from "./Modern.js"
import { attacks as noise } from "./Noise.js"
import type { ServerAttack } from "./Server.js"

export const attacks: ReadonlyArray<ServerAttack> = [...answers, ...noise, ...modern, ...http]
