/**
 * A TCP proxy between one node and its store. The proxy can cut all connections and refuse new connections. It can keep connections open
 * and pass nothing, for a time or for ever. It can also pass everything late.
 *
 * The class `Link` has the state of the connections, which changes with each piece of data. `pairs` has the open connections. `lost` has
 * the open connections that pass nothing any more. `waiting` has the data that was not passed yet, in order, each with the time at which it
 * must be passed.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface StoreProxy {
  readonly port: number
  /** Closes all connections, and refuses new connections. */
  readonly cut: Effect.Effect<void>
  /** Passes nothing in either direction. Connections stay open, and the proxy keeps the data that is sent. */
  readonly stall: Effect.Effect<void>
  /** Keeps the present connections open, but loses the data that is sent on them, even after `heal`. New connections pass everything. */
  readonly swallow: Effect.Effect<void>
  /** Passes everything this number of milliseconds late. */
  readonly delay: (millis: number) => Effect.Effect<void>
  /** Passes everything at once again, beginning with the data that waits. */
  readonly heal: Effect.Effect<void>
}

class Link {
  private readonly pairs = new Set<readonly [Socket, Socket]>()
  private readonly lost = new WeakSet<readonly [Socket, Socket]>()
  private readonly waiting: Array<{ readonly due: number; readonly act: () => void }> = []
  private isCut = false
  private isStalled = false
  private millis = 0

  constructor(private readonly target: number) {}

  readonly accept = (inner: Socket): void => {
    if (this.isCut) return void inner.destroy()
    const outer = connect(this.target, "127.0.0.1")
    const pair = [inner, outer] as const
    this.pairs.add(pair)
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.setNoDelay(true)
      from.on("data", (data) => this.pass(pair, () => void to.write(data)))
      from.on("error", () => {})
      // The end of a connection is passed on as late as its data.
      from.on("close", () =>
        this.pass(pair, () => {
          to.destroySoon()
          this.pairs.delete(pair)
        }))
    }
  }

  private pass(pair: readonly [Socket, Socket], act: () => void): void {
    if (this.lost.has(pair)) return
    this.waiting.push({ due: performance.now() + this.millis, act })
    this.flush()
  }

  private readonly flush = (): void => {
    while (!this.isStalled && this.waiting.length > 0) {
      const left = this.millis === 0 ? 0 : this.waiting[0]!.due - performance.now()
      if (left > 0) return void setTimeout(this.flush, left)
      this.waiting.shift()!.act()
    }
  }

  cut(): void {
    this.isCut = true
    this.close()
  }

  close(): void {
    for (const pair of this.pairs) for (const socket of pair) socket.destroy()
    this.pairs.clear()
    this.waiting.length = 0
  }

  stall(): void {
    this.isStalled = true
  }

  swallow(): void {
    this.waiting.length = 0
    for (const pair of this.pairs) this.lost.add(pair)
  }

  delay(millis: number): void {
    this.millis = millis
  }

  heal(): void {
    this.isCut = this.isStalled = false
    this.millis = 0
    this.flush()
  }
}

/** Listens at a free port until the scope closes. */
export const make = (target: number): Effect.Effect<StoreProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const link = new Link(target)
    const server = createServer(link.accept)
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.async<void>((resume) => {
          link.close()
          server.close(() => resume(Effect.void))
        })
    )
    return {
      port: (server.address() as AddressInfo).port,
      cut: Effect.sync(() => link.cut()),
      stall: Effect.sync(() => link.stall()),
      swallow: Effect.sync(() => link.swallow()),
      delay: (millis) => Effect.sync(() => link.delay(millis)),
      heal: Effect.sync(() => link.heal())
    }
  })
