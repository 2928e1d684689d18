/**
 * All hostile servers. Their names differ: `program` finds by its name the one that it plays, and `HostileServers` meets them
 * one after another.
 */
import { attacks as legacy } from "./Attacks.js"
import { attacks as http } from "./Http.js"
import { attacks as modern } from "./Modern.js"
import type { ServerAttack } from "./Server.js"

export const attacks: ReadonlyArray<ServerAttack> = [...legacy, ...modern, ...http]
