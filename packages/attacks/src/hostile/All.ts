/**
 * All hostile servers. Their names differ: `program` finds by its name the one that it plays, and `HostileServers` meets them
 * one after another.
 */
import { attacks as answers } from "./Answers.js"
import { attacks as http } from "./Http.js"
import { attacks as modern } from "./Modern.js"
import { attacks as noise } from "./Noise.js"
import type { ServerAttack } from "./Server.js"

export const attacks: ReadonlyArray<ServerAttack> = [...answers, ...noise, ...modern, ...http]
