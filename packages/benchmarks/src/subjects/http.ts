/**
 * A server over HTTP, in a process of its own, and one client; each call is a POST. The processor time is that of the server's
 * process.
 */
import { sign } from "../AccessToken.js"
import * as ServedProcess from "../ServedProcess.js"
import type { Subject } from "../Workload.js"

/** A call of 2026-07-28 with an access token, which an open server does not read. */
const bearer: ServedProcess.Begin = async (post) => {
  const { headers, ...additions } = await ServedProcess.modern()(post)
  return { ...additions, headers: { ...headers, authorization: `Bearer ${sign()}` } }
}

/** Calls without a session. */
const stateless: ServedProcess.Begin = () => Promise.resolve({ headers: { "mcp-protocol-version": "2025-11-25" } })

export const eras = { stateless, legacy: ServedProcess.legacy, modern: ServedProcess.modern(), bearer }

/** `tool` "addSlowly" sends progress before its result. */
export const start = (server: string, begin: ServedProcess.Begin, tool = "add") => async (): Promise<Subject> => {
  const _meta = tool === "add" ? undefined : { progressToken: 1 }
  const served = await ServedProcess.start(server)
  const additions = await begin(served.post)
  return {
    run: async (calls, inFlight) => {
      let next = 1
      await Promise.all(Array.from({ length: inFlight }, async () => {
        while (next <= calls) await ServedProcess.call(served, additions, next++, tool, _meta)
      }))
    },
    used: async () => (await served.used()).microseconds,
    close: async () => served.close()
  }
}
