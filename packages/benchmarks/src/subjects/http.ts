/**
 * A server over HTTP, in a process of its own, and one client; each call is a POST. Only the processor time and the memory of the server's
 * process count.
 */
import { sign } from "../AccessToken.js"
import { checkTools } from "../Raw.js"
import * as ServedProcess from "../ServedProcess.js"
import { BURST, checkResult, type Holder, inTurn, offered, reporting, type Subject } from "../Workload.js"

/** A call of 2026-07-28 with an access token, which an open server does not read. */
const bearer: ServedProcess.Begin = async (post) => {
  const { headers, ...additions } = await ServedProcess.modern()(post)
  return { ...additions, headers: { ...headers, authorization: `Bearer ${sign()}` } }
}

/** Calls without a session. */
const stateless: ServedProcess.Begin = () => Promise.resolve({ headers: { "mcp-protocol-version": "2025-11-25" } })

export const eras = { stateless, legacy: ServedProcess.legacy, modern: ServedProcess.modern(), bearer }

const PROGRESS = { progressToken: 1 }

const open = async (
  server: string,
  begin: ServedProcess.Begin,
  environment?: Readonly<Record<string, string>>
) => {
  const served = await ServedProcess.start(server, environment)
  return {
    served,
    additions: await begin(served.post),
    rest: {
      used: async () => (await served.used()).microseconds,
      close: async () => served.close()
    }
  }
}

/** `tool` "addSlowly" sends progress before its result. */
export const start = async (server: string, begin: ServedProcess.Begin, tool = "add"): Promise<Subject> => {
  const { additions, rest, served } = await open(server, begin)
  const _meta = tool === "add" ? undefined : PROGRESS
  return {
    run: (calls, inFlight) =>
      inTurn(calls, inFlight, async (a) => void await ServedProcess.call(served, additions, a, tool, _meta)),
    ...rest
  }
}

/** Notifications of progress on the stream of an answer. */
export const progress = async (server: string): Promise<Subject> => {
  const { additions, rest, served } = await open(server, eras.legacy)
  return {
    ...reporting(async (onProgress) => {
      const params = { name: "report", arguments: { a: BURST, b: 1 }, _meta: PROGRESS }
      const { body, result } = await ServedProcess.ask(served, additions.headers, {
        id: 1,
        method: "tools/call",
        params
      })
      for (const _ of body.matchAll(/^data: .*"notifications\/progress"/gm)) onProgress()
      checkResult(result, BURST, 1)
      return result
    }),
    ...rest
  }
}

export const list = async (server: string): Promise<Subject> => {
  const { additions, rest, served } = await open(server, eras.legacy)
  return {
    run: (calls, inFlight) =>
      inTurn(calls, inFlight, async (id) => {
        const { result } = await ServedProcess.ask(served, additions.headers, { id, method: "tools/list", params: {} })
        checkTools(result, offered.length)
      }),
    ...rest
  }
}

const AT_ONCE = 16

/** Every server has served twice as many requests before it is measured, with any number of sessions. */
const MOST = 5000

/** Calls in one session, while so many other sessions are idle. */
export const amongSessions = async (server: string, sessions: number): Promise<Subject> => {
  const { additions, rest, served } = await open(server, eras.legacy)
  await inTurn(sessions, AT_ONCE, async () => void await eras.legacy(served.post))
  // A handshake is two requests: with fewer sessions, the server has served as many requests.
  await inTurn(
    2 * Math.max(0, MOST - sessions),
    AT_ONCE,
    async (a) => void await ServedProcess.call(served, additions, a)
  )
  return {
    run: (calls, inFlight) => inTurn(calls, inFlight, async (a) => void await ServedProcess.call(served, additions, a)),
    ...rest
  }
}

/** Calls of one tool of a server that has so many tools. */
export const amongTools = async (server: string, tools: string): Promise<Subject> => {
  const { additions, rest, served } = await open(server, eras.legacy, { TOOLS: tools })
  return {
    run: (calls, inFlight) => inTurn(calls, inFlight, async (a) => void await ServedProcess.call(served, additions, a)),
    ...rest
  }
}

type Hold = (served: ServedProcess.Served, client: ServedProcess.Additions) => Promise<void>

const holding = async (server: string, ready: number, hold: Hold): Promise<Holder> => {
  const served = await ServedProcess.start(server)
  const clients: Array<ServedProcess.Additions> = []
  await inTurn(ready, AT_ONCE, async () => void clients.push(await eras.legacy(served.post)))
  return {
    hold: (count) => inTurn(count, AT_ONCE, async () => hold(served, clients.pop() ?? await eras.legacy(served.post))),
    heapBytes: async () => (await served.used(true)).heapBytes,
    close: async () => served.close()
  }
}

/** Sessions whose client has made the handshake, and nothing else. */
export const holdSessions = (server: string): Promise<Holder> => holding(server, 0, () => Promise.resolve())

/** The stream of a session, which the client opens with a GET. The sessions are opened before. */
export const holdStreams = (server: string, count: number): Promise<Holder> =>
  holding(server, count, (served, { headers }) => served.open(headers))

/** The streamed answer to a call that has sent progress, but no result. The sessions are opened before. */
export const holdAnswers = (server: string, count: number): Promise<Holder> =>
  holding(server, count, (served, { headers }) =>
    served.open(headers, {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "park", arguments: { a: 1, b: 1 }, _meta: PROGRESS }
    }))
