/**
 * All hostile servers. `HostileServers` connects a client to each of them; `program` runs one of them as a process. Each server has a
 * unique name, by which `program` finds the server.
 */
import { attacks as answers } from "./Answers.js"
import { attacks as http } from "./Http.js"
import { attacks as modern } from "./Modern.js"
import { attacks as noise } from "./Noise.js"
import type { ServerAttack } from "./Server.js"

export const attacks: ReadonlyArray<ServerAttack> = [...answers, ...noise, ...modern, ...http]
