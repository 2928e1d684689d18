/**
 * Starts and restarts one node of a run with faults. A node has processes, one after another, a proxy between the node and the store, and a
 * journal for each process. Each process of a node has its own name, such as `n1.2`.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Child from "../processes/Child.js"
import * as Place from "../processes/Place.js"
import * as Restartable from "../processes/Restartable.js"
import { type Entry, now } from "./History.js"
import * as Journal from "./Journal.js"
import { type Bug, NodeOptions, type Store } from "./NodeOptions.js"
import * as StoreProxy from "./StoreProxy.js"

export interface NemesisNode extends Restartable.Restartable {
  readonly port: number
  readonly proxy: StoreProxy.StoreProxy
  /** Returns the name of the process that was started last. */
  readonly name: () => string
  /** Returns the entries in the journals of all processes of the node. */
  readonly entries: () => ReadonlyArray<Entry>
}

export interface Options {
  readonly name: string
  readonly store: Store
  readonly folder: string
  readonly bug?: Bug | undefined
}

const program = fileURLToPath(new URL("node.js", import.meta.url))

/** Returns the same URL with another port. */
const at = (url: string, port: number): string => {
  const own = new URL(url)
  own.port = `${port}`
  return own.href
}

/** Starts a node at a free port, and waits until it serves requests. */
export const start = (
  { bug, folder, name: own, store }: Options
): Effect.Effect<NemesisNode, Child.ProcessError, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* Place.freePort
    const proxy = yield* StoreProxy.make(Number(new URL(store.url).port))
    const journals: Array<string> = []
    const exits: Array<Entry> = []
    const name = () => `${own}.${journals.length}`
    const node = yield* Restartable.make(Effect.suspend(() => {
      const journal = join(folder, `${own}.${journals.length + 1}.journal`)
      journals.push(journal)
      const options = { name: name(), port, journal, bug, store: { ...store, url: at(store.url, proxy.port) } }
      const child = Child.start({
        command: process.execPath,
        args: [program, Schema.encodeSync(NodeOptions)(options)],
        isReady: (line) => line === "listening",
        onLine: process.env.NEMESIS_LOG === undefined ? undefined : (line) => console.error(`${options.name}: ${line}`)
      })
      return Effect.tap(child, ({ exit }) =>
        Effect.forkScoped(Effect.map(exit, (exit) => {
          exits.push({ _tag: "Exited", at: now(), node: options.name, ...exit })
        }))).pipe(
          // A node does not start while its store cannot be reached. So the start is tried again, as a supervisor does.
          Effect.retry({ times: 5 })
        )
    }))
    return { ...node, port, proxy, name, entries: () => [...journals.flatMap(Journal.read), ...exits] }
  })
