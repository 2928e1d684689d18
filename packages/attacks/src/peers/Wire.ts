/**
 * The transports over which hostile clients send their texts, all as a `Wire`: standard streams of a process, a pair in memory, HTTP with a
 * session, HTTP of 2026-07-28, and HTTP+SSE.
 */
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type { Message } from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Mailbox from "effect/Mailbox"
import * as Scope from "effect/Scope"
import * as http from "node:http"
import { call, type Canary, initialize, keptAlive, post } from "../Canary.js"
import type { Victim } from "../Victim.js"
import * as Features from "../victim/Features.js"

export interface Wire {
  /** Sends one text. Over HTTP it gets the headers that its transport needs. */
  readonly send: (text: string) => void
  readonly close: () => Promise<void>
}

export type OnMessage = (message: any) => void

const agent = keptAlive()

const each = (text: string, type: string | undefined, onMessage: OnMessage): void => {
  const texts = type?.includes("event-stream") === true
    ? text.split("\n").flatMap((line) => line.startsWith("data: ") && line.length > 6 ? [line.slice(6)] : [])
    : text === ""
    ? []
    : [text]
  for (const one of texts) deliver(one, onMessage)
}

const deliver = (text: string, onMessage: OnMessage): void => {
  const value: unknown = JSON.parse(text)
  if (Array.isArray(value)) value.forEach(onMessage)
  else onMessage(value)
}

/** The standard streams of a victim, which carry one conversation. */
export const stdio = ({ child }: Victim, onMessage: OnMessage): Wire => {
  let rest = ""
  const read = (chunk: string): void => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()!
    for (const line of lines) deliver(line, onMessage)
  }
  child.stdin!.on("error", () => {})
  child.stdout!.setEncoding("utf8").on("data", read)
  return {
    send: (text) => child.stdin!.write(text + "\n"),
    close: async () => {
      child.stdout!.off("data", read)
    }
  }
}

/** How many characters arrive at least in one turn: as many as one read of a pipe gives. */
const READ = 65_536

/** Writes texts that arrive as on a pipe: in later turns of the event loop. */
export const inTurns = (arrive: (text: string) => void): (text: string) => void => {
  let written: Array<string> = []
  let at = 0
  const read = (): void => {
    for (let length = 0; length < READ && at < written.length;) {
      const text = written[at++]!
      length += text.length
      arrive(text)
    }
    if (at < written.length) return void setImmediate(read)
    written = []
    at = 0
  }
  return (text) => {
    if (written.length === 0) setImmediate(read)
    written.push(text)
  }
}

/** A server in this process. `connect` adds a client: the attacker, or the canary. */
export const memoryServer = async () => {
  const scope = await Effect.runPromise(Scope.make())
  const quiet = Layer.merge(Features.server(undefined), Logger.remove(Logger.defaultLogger))
  const context = await Effect.runPromise(Layer.buildWithScope(quiet, scope))
  return {
    connect: async (onMessage: OnMessage): Promise<Wire> => {
      const inbox = await Effect.runPromise(Mailbox.make<ReturnType<typeof MessageText.parse>>())
      const unsafeSend = (message: Message): boolean => {
        const text = MessageText.stringify(message)
        if (text !== undefined) setImmediate(() => deliver(text, onMessage))
        return true
      }
      const transport = {
        incoming: Mailbox.toStream(inbox),
        unsafeSend,
        send: (message: Message) => Effect.sync(() => void unsafeSend(message))
      }
      const serve = Effect.flatMap(Dispatcher, ({ accept }) => accept(transport))
      await Effect.runPromise(Scope.extend(Effect.forkScoped(Effect.provide(serve, context)), scope))
      return {
        send: inTurns((text) => void inbox.unsafeOffer(MessageText.parse(text))),
        close: () => Effect.runPromise(Effect.asVoid(inbox.end))
      }
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** A client of the server in this process that behaves well. */
export const memoryCanary = async (
  { connect }: { readonly connect: (onMessage: OnMessage) => Promise<Wire> }
): Promise<Pick<Canary, "sing" | "close">> => {
  const waiting = new Map<unknown, (message: any) => void>()
  const { close, send } = await connect((message) => waiting.get(message.id)?.(message))
  const exchange = (request: { readonly id: number | string }): Promise<any> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no answer in ten seconds")), 10_000)
      waiting.set(request.id, (message) => {
        clearTimeout(timer)
        waiting.delete(request.id)
        resolve(message)
      })
      send(JSON.stringify(request))
    })
  await exchange(initialize("initialize"))
  let last = 0
  return {
    sing: async () => {
      const text = `song ${++last}`
      const { result } = await exchange(call(last, "echo", { text }))
      if (result?.structuredContent?.text !== text) throw new Error(`the canary got ${JSON.stringify(result)}`)
    },
    close
  }
}

/** A session over HTTP; requests of the server arrive on the streams of the calls. */
export const session = (port: number, onMessage: OnMessage): Wire => {
  let id: string | undefined
  const posts = postsTo(port, onMessage)
  const waiting: Array<string> = []
  const exchange = (text: string): void => {
    if (id !== undefined) return posts.send(text, { "mcp-session-id": id }, agent)
    posts.send(text, {}, false, (response) => {
      if (id !== undefined) return
      id = String(response.headers["mcp-session-id"])
      for (const text of waiting.splice(0)) exchange(text)
    })
  }
  let isFirst = true
  return {
    // The first message is the handshake: the others wait for the session.
    send: (text) => {
      if (!isFirst && id === undefined) return void waiting.push(text)
      isFirst = false
      exchange(text)
    },
    close: async () => {
      posts.destroy()
      if (id !== undefined) await post(port, undefined, { "mcp-session-id": id }, false, "DELETE")
    }
  }
}

/**
 * Requests of 2026-07-28: each is a POST of its own. A client of this revision cancels a request by disconnecting; here it
 * sends `notifications/cancelled` all the same.
 */
export const modern = (port: number, onMessage: OnMessage): Wire => {
  const posts = postsTo(port, onMessage)
  return {
    send: (text) => posts.send(text, repeated(text), agent),
    close: async () => posts.destroy()
  }
}

/** Sends each message as a POST of its own. `destroy` ends the POSTs whose response has not ended. */
const postsTo = (port: number, onMessage: OnMessage) => {
  const open = new Set<http.ClientRequest>()
  return {
    send: (
      text: string,
      own: Readonly<Record<string, string>>,
      agent: http.Agent | false,
      onResponse?: (response: http.IncomingMessage) => void
    ): void => {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...own }
      const options = { port, host: "127.0.0.1", path: "/mcp", method: "POST", headers, agent }
      const request = http.request(options, (response) => {
        onResponse?.(response)
        read(response, onMessage)
        response.on("close", () => open.delete(request))
      })
      open.add(request)
      request.on("error", () => open.delete(request))
      request.end(text)
    },
    destroy: (): void => {
      for (const request of open) request.destroy()
    }
  }
}

/** The headers that repeat parts of the body, where a part fits into a header. A handshake has no such headers. */
const repeated = (text: string): Record<string, string> => {
  const { method, params } = JSON.parse(text)
  if (method === "initialize") return {}
  const name = params?.name ?? params?.uri
  return {
    "mcp-protocol-version": "2026-07-28",
    ...(typeof method === "string" ? { "mcp-method": method } : undefined),
    ...(typeof name === "string" && name.length < 1000 ? { "mcp-name": name } : undefined)
  }
}

/** Reads a response: one message, or events. */
const read = (response: http.IncomingMessage, onMessage: OnMessage): void => {
  const type = response.headers["content-type"]
  const streams = type?.includes("event-stream") === true
  let rest = ""
  response.setEncoding("utf8").on("data", (chunk: string) => {
    const events = (rest + chunk).split("\n\n")
    rest = streams ? events.pop()! : rest + chunk
    if (streams) { for (const event of events) each(event, type, onMessage) }
  })
  response.on("error", () => {})
  response.on("end", () => {
    if (!streams) each(rest, type, onMessage)
  })
}

/** The two endpoints of 2024-11-05. */
export const sse = (port: number, onMessage: OnMessage): Promise<Wire> =>
  new Promise((resolve, reject) => {
    let rest = ""
    let endpoint: string | undefined
    const stream = http.get({
      port,
      host: "127.0.0.1",
      path: "/sse",
      agent: false,
      headers: { accept: "text/event-stream" }
    }, (response) => {
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const events = (rest + chunk).split("\n\n")
        rest = events.pop()!
        for (const event of events) {
          if (!event.includes("event: endpoint")) each(event, "text/event-stream", onMessage)
          else {
            endpoint = /data: (.*)/.exec(event)![1]!
            clearTimeout(late)
            resolve({ send, close: async () => void stream.destroy() })
          }
        }
      })
      response.on("error", () => {})
      response.on("end", () => reject(new Error(`GET /sse ended with ${response.statusCode}, and named no endpoint`)))
    })
    stream.on("error", reject)
    const late = setTimeout(() => stream.destroy(new Error("GET /sse named no endpoint within 10 s")), 10_000)
    const send = (text: string): void => {
      const path = endpoint!.replace(/^https?:\/\/[^/]+/, "")
      const request = http.request({
        port,
        host: "127.0.0.1",
        path,
        method: "POST",
        agent,
        headers: { "content-type": "application/json" }
      }, (response) => response.resume())
      request.on("error", () => {})
      request.end(text)
    }
  })
