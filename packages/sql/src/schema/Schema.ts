/**
 * The tables of all services. Each service has a file with the changes of its tables.
 *
 * A change that was released is never edited: the next one follows it.
 */
import { bus } from "./Bus.js"
import type { Changes } from "./Changes.js"
import { events } from "./Events.js"
import { keys } from "./Keys.js"
import { limits } from "./Limits.js"
import { sessions } from "./Sessions.js"
import { tasks } from "./Tasks.js"
import { texts } from "./Texts.js"

/** The changes by the name of their service. */
export const services: Readonly<Record<string, Changes>> = { bus, events, keys, limits, sessions, tasks, texts }
