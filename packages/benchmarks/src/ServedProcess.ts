/**
 * A server in a process of its own, and the client that calls it over connections that stay open. The client is the same for
 * all servers, and sends the same bytes to all servers of one era.
 */
import { fork } from "node:child_process"
import { Agent, request } from "node:http"
import { fileURLToPath } from "node:url"
import { checkResult, isRecord } from "./Workload.js"

export interface Response {
  readonly sessionId: string | undefined
  readonly body: string
}

export type Headers = Readonly<Record<string, string>>

/** What the process of a server has used. */
export interface Usage {
  /** Processor time since the start of the process. */
  readonly microseconds: number
  /** The heap after a collection of garbage; 0 when no garbage was collected. */
  readonly heapBytes: number
}

export interface Served {
  readonly post: (message: object, headers: Headers) => Promise<Response>
  /** Opens a stream that has its events already, and reads the stream to its end. */
  readonly get: (headers: Headers) => Promise<Response>
  /** Opens a stream, of a session or of a call, that stays open until the process ends. */
  readonly open: (headers: Headers, message?: object) => Promise<void>
  /** What the process has used so far. `collects` collects garbage first. */
  readonly used: (collects?: boolean) => Promise<Usage>
  readonly close: () => void
}

/** How long a server may take to start, or to answer how much it has used: in milliseconds. */
const LIMIT = 60_000

/** Starts `served.js` with a server, and with these variables in its environment. Fails when the server ends or is late. */
export const start = async (server: string, environment: Readonly<Record<string, string>> = {}): Promise<Served> => {
  const child = fork(fileURLToPath(new URL("served.js", import.meta.url)), [server], {
    execArgv: ["--expose-gc"],
    // The standard output of this process is the result.
    stdio: ["ignore", 2, "inherit", "ipc"],
    env: { ...process.env, ...environment }
  })
  const nextMessage = <A>() =>
    new Promise<A>((resolve, reject) => {
      const onExit = () => {
        clearTimeout(late)
        reject(new Error(`The server "${server}" has ended`))
      }
      const late = setTimeout(() => {
        child.kill("SIGKILL")
        reject(new Error(`The server "${server}" has not answered within ${LIMIT / 1000} s`))
      }, LIMIT)
      child.once("exit", onExit)
      child.once("message", (message) => {
        clearTimeout(late)
        child.off("exit", onExit)
        resolve(message as A)
      })
    })
  const { url } = await nextMessage<{ readonly url: string }>()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const streams = new Agent()
  const headersOf = (body: string, headers: Headers): Headers => ({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": `${Buffer.byteLength(body)}`,
    ...headers
  })
  const send = (method: string, headers: Headers, body?: string): Promise<Response> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { agent, method, headers }, (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => text += chunk)
        response.on("error", reject)
        response.on("end", () => {
          if ((response.statusCode ?? 500) >= 400) reject(new Error(`${response.statusCode}: ${text}`))
          else resolve({ sessionId: response.headers["mcp-session-id"] as string | undefined, body: text })
        })
      })
      sent.on("error", reject)
      sent.end(body)
    })
  return {
    post: (message, headers) => {
      const body = JSON.stringify(message)
      return send("POST", headersOf(body, headers), body)
    },
    open: (headers, message) =>
      new Promise((resolve, reject) => {
        const body = message === undefined ? undefined : JSON.stringify(message)
        const options = body === undefined
          ? { method: "GET", headers: { accept: "text/event-stream", ...headers } }
          : { method: "POST", headers: headersOf(body, headers) }
        const sent = request(url, { agent: streams, ...options }, (response) => {
          response.resume().on("error", () => {})
          if (response.statusCode === 200) resolve()
          else reject(new Error(`A stream was answered with ${response.statusCode}`))
        })
        sent.on("error", reject)
        sent.end(body)
      }),
    get: (headers) => send("GET", { accept: "text/event-stream", ...headers }),
    used: async (collects = false) => {
      const answer = nextMessage<Usage>()
      child.send({ collects })
      return await answer
    },
    close: () => {
      agent.destroy()
      streams.destroy()
      child.disconnect()
    }
  }
}

const clientInfo = { name: "bench", version: "1.0.0" }

/** What each call of one client has: its headers, and the `_meta` of its parameters. */
export interface Additions {
  readonly headers: Headers
  readonly _meta?: object
}

export type Begin = (post: Served["post"]) => Promise<Additions>

/** Makes the handshake; the calls belong to its session. */
export const legacy = async (post: Served["post"], capabilities: object = {}): Promise<Additions> => {
  const protocolVersion = "2025-11-25"
  const { sessionId = "" } = await post({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities, clientInfo }
  }, {})
  const headers = {
    "mcp-protocol-version": protocolVersion,
    // A server without sessions sends no session id.
    ...(sessionId === "" ? {} : { "mcp-session-id": sessionId })
  }
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers)
  return { headers }
}

/** Calls of 2026-07-28: each call has all that the server needs to know. */
export const modern = (tool = "add"): Begin => () => {
  const version = "2026-07-28"
  return Promise.resolve({
    headers: { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": tool },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  })
}

/** The last message that the server has sent: a JSON body, or the last event of a stream. */
const last = (body: string): unknown => {
  if (/^[{[]/.test(body)) {
    const message: unknown = JSON.parse(body)
    return Array.isArray(message) ? message.at(-1) : message
  }
  return JSON.parse(body.slice(body.lastIndexOf("data: ") + "data: ".length))
}

/** Sends a request, and returns its result and the whole body. */
export const ask = async (
  { post }: Pick<Served, "post">,
  headers: Headers,
  request: { readonly id: number; readonly method: string; readonly params: object }
): Promise<{ readonly body: string; readonly result: unknown }> => {
  const { body } = await post({ jsonrpc: "2.0", ...request }, headers)
  const answer = last(body)
  return { body, result: isRecord(answer) ? answer.result : undefined }
}

/** Calls a tool that adds, and checks its result. Returns what the server has sent. */
export const call = async (
  served: Served,
  { headers, ...additions }: Additions,
  a: number,
  name = "add",
  _meta?: object
): Promise<string> => {
  const params = { name, arguments: { a, b: 1 }, ...additions, ...(_meta === undefined ? {} : { _meta }) }
  const { body, result } = await ask(served, headers, { id: a, method: "tools/call", params })
  checkResult(result, a, 1)
  return body
}
