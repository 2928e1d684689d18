/**
 * Debian's nginx as a load balancer in front of three nodes, with the configuration that `docs/platform/06-load-balancers.md` has, and its access log.
 * With affinity the requests of a session go to the node that has opened it while they can; without, to the nodes in turn.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { join } from "node:path"
import * as Child from "./Child.js"
import * as Install from "./Install.js"
import * as Place from "./Place.js"

/** One request, when nginx has answered it. */
export interface Access {
  /** In milliseconds. */
  readonly began: number
  /** The session that the request names; the empty string for none. */
  readonly session: string
  /** Whether the request resumes a stream. */
  readonly resumes: boolean
  /** The nodes that nginx has tried, by their ports: more than one where a node could not be reached. */
  readonly ports: ReadonlyArray<number>
}

export interface Nginx {
  readonly url: string
  /** All requests that it has answered, in this order. */
  readonly accesses: Effect.Effect<ReadonlyArray<Access>>
  /** Whether it sends requests to the node. */
  readonly use: (node: string, isReady: boolean) => Effect.Effect<void>
  /** Whether it has been told to send no requests to the node. */
  readonly leavesOut: (node: string) => Effect.Effect<boolean>
}

export interface Options {
  /** The nodes "a", "b" and "c". */
  readonly nodes: ReadonlyArray<{ readonly name: string; readonly port: number }>
  readonly affinity: boolean
}

const DOCS = new URL("../../../../docs/platform/06-load-balancers.md", import.meta.url)

const ACCESS = "access.log"

/** What the documentation has, with the addresses and the folder of this run. */
const documented = ({ affinity, nodes }: Options, port: number, folder: string): string => {
  const [servers, owners] = [...readFileSync(DOCS, "utf8").matchAll(/```nginx\n([^]*?)```/g)].map(([, block]) => block!)
  const text = affinity ? `${owners}${servers!.replace("set $to nodes;", "set $to $node;")}` : servers!
  return nodes.reduce(
    (text, node, at) =>
      text.replaceAll(`10.0.0.${at + 1}:3000`, `127.0.0.1:${node.port}`)
        .replaceAll(`10\\.0\\.0\\.${at + 1}:3000`, `:${node.port}`),
    text.replace("listen 80;", `listen 127.0.0.1:${port};`).replaceAll("/run/mcp", folder)
  )
}

const config = (options: Options, port: number, folder: string): string => `
daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  log_format access escape=json '{"ended":$msec,"took":$request_time,"session":"$http_mcp_session_id",'
    '"event":"$http_last_event_id","upstream":"$upstream_addr"}';
  access_log ${join(folder, ACCESS)} access;
  ${
  ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")
}
  ${documented(options, port, folder)}
}
`

const decode = Schema.decodeSync(Schema.parseJson(Schema.Struct({
  ended: Schema.Number,
  took: Schema.Number,
  session: Schema.String,
  event: Schema.String,
  upstream: Schema.String
})))

const toAccess = (line: string): Access => {
  const { ended, event, session, took, upstream } = decode(line)
  return {
    began: Math.round((ended - took) * 1000),
    session,
    resumes: event !== "",
    ports: [...upstream.matchAll(/:(\d+)/g)].map(([, port]) => Number(port))
  }
}

/** Waits until a program listens on the port. */
const listens = (port: number): Effect.Effect<void, Child.ProcessError> =>
  Effect.retry(
    Effect.async<void, Child.ProcessError>((resume) => {
      const socket = createConnection(port, "127.0.0.1", () => {
        socket.destroy()
        resume(Effect.void)
      })
      socket.once("error", ({ message }) => resume(new Child.ProcessError({ message: `nginx: ${message}` })))
    }),
    Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(200))
  )

/** Provides the program. */
export const install: Effect.Effect<void, Child.ProcessError> = Install.provide("nginx", "nginx-light", "-v")

/** Starts nginx at a free port. Sessions of a node have its name and a hyphen before their ids. */
export const start = (options: Options): Effect.Effect<Nginx, Child.ProcessError, Scope.Scope> =>
  Effect.gen(function*() {
    const folder = yield* Place.folder("nginx")
    const port = yield* Place.freePort
    const file = join(folder, "nginx.conf")
    yield* Effect.sync(() => writeFileSync(file, config(options, port, folder)))
    yield* Child.start({
      command: "nginx",
      args: ["-e", "stderr", "-p", folder, "-c", file],
      lastSignal: "SIGTERM"
    })
    yield* listens(port)
    const mark = (node: string) => join(folder, `${node}.down`)
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      accesses: Effect.sync(() => readFileSync(join(folder, ACCESS), "utf8").trim().split("\n").map(toAccess)),
      use: (node, isReady) =>
        Effect.sync(() => {
          if (isReady) rmSync(mark(node), { force: true })
          else writeFileSync(mark(node), "")
        }),
      leavesOut: (node) => Effect.sync(() => existsSync(mark(node)))
    }
  })
