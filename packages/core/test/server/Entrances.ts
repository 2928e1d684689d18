/** What HTTP endpoints use of the dispatcher. */
import { Entrances } from "../../src/server/dispatch/Dispatch.js"

export const entrances = Entrances
