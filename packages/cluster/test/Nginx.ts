/**
 * Debian's nginx with the configuration that `docs/platform/06-load-balancers.md` has, in front of three nodes. `install` provides the program.
 */
import { Data, Effect, Schedule } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { join } from "node:path"
import type { Engine } from "../../node/test/Engine.js"
import * as Child from "../src/processes/Child.js"
import * as Place from "../src/processes/Place.js"

const isThere = (): boolean => {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

export const engine: Engine = {
  name: "nginx",
  isThere,
  debian: "nginx-light",
  macos: "brew install nginx",
  tests: "the tests of the configuration of nginx"
}

export interface Nginx {
  readonly url: string
  /** Has it send no requests to a node: there is a file with this name. */
  readonly leaveOut: (node: "a" | "b" | "c") => Effect.Effect<void>
  /** Has it send requests to the node again. */
  readonly use: (node: "a" | "b" | "c") => Effect.Effect<void>
}

class NotYet extends Data.TaggedError("NotYet")<{ readonly message: string }> {}

const DOCS = new URL("../../../docs/platform/06-load-balancers.md", import.meta.url)

/** What the documentation has, with the addresses and the folder of this test. */
const documented = (ports: ReadonlyArray<number>, affinity: boolean, port: number, folder: string): string => {
  const [servers, owners] = [...readFileSync(DOCS, "utf8").matchAll(/```nginx\n([^]*?)```/g)].map(([, block]) => block!)
  const text = affinity ? `${owners}${servers!.replace("set $to nodes;", "set $to $node;")}` : servers!
  return ports.reduce(
    (text, node, at) =>
      text.replaceAll(`10.0.0.${at + 1}:3000`, `127.0.0.1:${node}`)
        .replaceAll(`10\\.0\\.0\\.${at + 1}:3000`, `:${node}`),
    text.replace("listen 80;", `listen 127.0.0.1:${port};`).replaceAll("/run/mcp", folder)
  )
}

const config = (ports: ReadonlyArray<number>, affinity: boolean, port: number, folder: string): string => `
daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  ${
  ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")
}
  ${documented(ports, affinity, port, folder)}
}
`

/** Waits until a program listens on the port. */
const listens = (port: number) =>
  Effect.retry(
    Effect.async<void, NotYet>((resume) => {
      const socket = createConnection(port, "127.0.0.1", () => {
        socket.destroy()
        resume(Effect.void)
      })
      socket.once("error", ({ message }) => resume(new NotYet({ message: `nginx: ${message}` })))
    }),
    Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(200))
  )

/** Starts nginx at a free port, in front of the nodes "a", "b" and "c" at these ports. */
export const start = (ports: ReadonlyArray<number>, { affinity }: { readonly affinity: boolean }) =>
  Effect.gen(function*() {
    const folder = yield* Place.folder("nginx")
    const port = yield* Place.freePort
    const file = join(folder, "nginx.conf")
    writeFileSync(file, config(ports, affinity, port, folder))
    yield* Child.start({
      command: "nginx",
      args: ["-e", "stderr", "-p", folder, "-c", file],
      lastSignal: "SIGTERM"
    })
    yield* listens(port)
    const mark = (node: string) => join(folder, `${node}.down`)
    return {
      url: `http://127.0.0.1:${port}`,
      leaveOut: (node) => Effect.sync(() => writeFileSync(mark(node), "")),
      use: (node) => Effect.sync(() => rmSync(mark(node), { force: true }))
    } satisfies Nginx
  })
