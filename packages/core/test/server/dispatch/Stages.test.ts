import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Context, Effect, Either } from "effect"
import type { HttpTransports, ServedPath } from "../../../src/server/dispatch/HttpTransports.js"
import * as Stages from "../../../src/server/dispatch/Stages.js"
import * as Guard from "../../../src/server/http/Guard.js"
import type { Admitted } from "../../../src/server/http/HttpExchange.js"
import { LongBodies } from "../../../src/server/http/LongBodies.js"
import { Bodies } from "../../../src/server/http/RequestBody.js"
import * as Stage from "../../../src/server/http/Stage.js"
import { HttpRefusal } from "../../../src/server/HttpRefusal.js"
import * as Permission from "../../../src/server/runtime/Permission.js"
import { call, proper, TestExchange } from "../http/TestExchange.js"

const report: Stages.Report = { forbidden: () => {}, fault: () => {} }
const documents = new Map([["/document", "{}"]])
const guard = Guard.make()
const bodies = new Bodies(
  { maxBodyBytes: 100, bodyTimeout: Infinity, maxIncompleteBytes: Infinity },
  { now: () => 0, watch: () => {} }
)
const longBodies = new LongBodies(Infinity, () => {})

/** Runs one stage after stages that have found this, and gives what the next stage reads of it; HELD when there is no next stage. */
const run = <Reads extends object, Finds>(
  stage: Stage.Stage<string, Reads, Finds>,
  found: Reads,
  exchange: TestExchange = new TestExchange("POST", "/mcp", proper)
) => {
  const result: { exchange: TestExchange; found: Finds | typeof Stage.HELD | undefined } = {
    exchange,
    found: Stage.HELD
  }
  const given = Object.entries(found).map(([name, value]): Stage.Any => ({ name, run: () => value }))
  const next: Stage.Any = {
    name: "next",
    run: (_, all) => {
      result.found = all[stage.name]
      return Stage.HELD
    }
  }
  const surroundings: Stage.Surroundings = {
    slowReaders: { sendLong: () => {}, watch: () => () => {}, tick: () => () => {} },
    refuses: () => false
  }
  new Stage.Passage(exchange, [...given, stage, next], surroundings, undefined).run()
  return result
}

const request = (method: string, url = "/mcp", headers = {}) => new TestExchange(method, url, { ...proper, ...headers })

const sender = (scopes?: ReadonlyArray<string>): Admitted => {
  const refused = new HttpRefusal({ status: 403, error: { code: -32000, message: "No" } })
  const user = scopes &&
    Permission.add(Context.empty(), (wanted) => wanted.every((one) => scopes.includes(one)) ? undefined : refused)
  return Object.assign(request("POST"), { principal: { id: "ann" }, user })
}

const served = (path: Partial<ServedPath> = {}): ServedPath => ({
  allow: "GET, POST, OPTIONS",
  get: () => {},
  delete: undefined,
  responses: "auto",
  post: () => {},
  hasSession: () => false,
  toOwner: () => undefined,
  ...path
})

const transports = (path: ServedPath | undefined): Pick<HttpTransports, "find"> => ({ find: () => path })

const here = { isUnknown: false, body: undefined }

describe("A stage of the endpoint runs alone:", () => {
  it("`health` answers the GET and HEAD of a probe", () => {
    const stage = Stages.health({
      answers: ({ path, reply }) => {
        if (path === "/livez") reply(200, {}, "ok")
        return path === "/livez"
      }
    })
    for (const method of ["GET", "HEAD"]) {
      assert.deepInclude(run(stage, {}, request(method, "/livez")), { found: Stage.HELD })
    }
    assert.isUndefined(run(stage, {}, request("GET", "/mcp")).found)
    assert.isUndefined(run(stage, {}, request("POST", "/livez")).found)
  })

  it("`guard` refuses another host, and adds the headers for a page", () => {
    const stage = Stages.guard({ documents, guard, report })
    assert.strictEqual(run(stage, {}, request("POST", "/mcp", { host: "evil.example" })).exchange.status, 403)
    assert.strictEqual(run(stage, {}, request("POST", "/mcp", { origin: "http://evil.example" })).exchange.status, 403)
    const added: Array<object> = []
    const pass = (url: string, origin: string) => {
      const one = Object.assign(request("GET", url, { origin }), { exchange: request("GET", url, { origin }) })
      return stage.run(Object.assign(one, { add: (headers: object) => void added.push(headers) }) as never, {})
    }
    assert.isUndefined(pass("/document", "http://evil.example"))
    assert.isUndefined(pass("/mcp", "http://localhost:1"))
    assert.deepStrictEqual(added[0], Guard.anyOrigin)
    assert.propertyVal(added[1]!, "vary", "Origin")
  })

  it("`open` holds a request that the endpoint refuses", () => {
    assert.isUndefined(run(Stages.open({ refuses: () => false }), {}).found)
    assert.strictEqual(run(Stages.open({ refuses: () => true }), {}).found, Stage.HELD)
  })

  it("`document` answers the path of a document", () => {
    const stage = Stages.document({ documents, guard })
    assert.isUndefined(run(stage, {}).found)
    const rows = [["GET", 200, "{}"], ["HEAD", 200, ""], ["OPTIONS", 204, ""]] as const
    for (const [method, status, text] of rows) {
      assert.deepInclude(run(stage, {}, request(method, "/document")).exchange, { status, text }, method)
    }
    const refused = run(stage, {}, request("POST", "/document")).exchange
    assert.deepStrictEqual([refused.status, refused.sent.allow], [405, "GET, HEAD, OPTIONS"])
  })

  it("`path` finds what serves a path, and refuses another path and another method", () => {
    const draining = { arrived: 0, hasBegun: false }
    const path = served()
    const stage = Stages.path({ draining, guard, transports: transports(path) })
    assert.deepInclude(run(stage, {}), { found: path })
    assert.strictEqual(draining.arrived, 1)
    assert.strictEqual(run(stage, {}, request("DELETE")).exchange.status, 405)
    assert.strictEqual(run(stage, {}, request("OPTIONS")).exchange.status, 204)
    assert.strictEqual(draining.arrived, 1)
    const none = Stages.path({ draining, guard, transports: transports(undefined) })
    assert.strictEqual(run(none, {}).exchange.status, 404)
  })

  it("`path` refuses a stream, and what another node serves, once the endpoint drains", () => {
    const draining = { arrived: 0, hasBegun: true }
    const stage = (path: ServedPath) => Stages.path({ draining, guard, transports: transports(path) })
    assert.strictEqual(run(stage(served()), {}, request("GET")).exchange.status, 503)
    assert.strictEqual(run(stage(served({ toOwner: () => () => {} })), {}).exchange.status, 503)
    assert.isObject(run(stage(served()), {}).found)
  })

  it("`ownPath` sends a request back whose session has moved", () => {
    const moved: Array<boolean> = []
    const from = () => Object.assign(request("POST"), { moved: (isDraining: boolean) => void moved.push(isDraining) })
    const stage = (path: ServedPath | undefined) =>
      Stages.ownPath({ draining: { arrived: 0, hasBegun: true }, transports: transports(path) })
    assert.isObject(run(stage(served()), {}, from()).found)
    assert.strictEqual(run(stage(served({ toOwner: () => () => {} })), {}, from()).found, Stage.HELD)
    assert.strictEqual(run(stage(undefined), {}, from()).found, Stage.HELD)
    assert.deepStrictEqual(moved, [true, true])
  })

  it("`sender` holds a request until the authenticator calls back", () => {
    let then!: (found: Either.Either<any, any>) => void
    const stage = Stages.sender((_, callback) => {
      then = callback
      return () => {}
    }, { report, sweeper: undefined as never })
    const one = run(stage, {})
    assert.strictEqual(one.found, Stage.HELD)
    then(Either.right({ principal: { id: "ann" }, user: Context.empty(), validity: undefined }))
    assert.strictEqual((one.found as Admitted).principal?.id, "ann")
    const refused = run(stage, {})
    then(Either.left(new HttpRefusal({ status: 401, error: { code: -32000, message: "Who?" } })))
    assert.deepStrictEqual([refused.found, refused.exchange.status], [Stage.HELD, 401])
  })

  it("`sender` is not asked for a request that has gone", () => {
    let interrupted = 0
    const stage = Stages.sender(() => () => void interrupted++, { report, sweeper: undefined as never })
    run(stage, {}).exchange.hangUp()
    assert.strictEqual(interrupted, 1)
  })

  it("`anyone` admits a request of which nothing is known", () => {
    const { found } = run(Stages.anyone, {})
    assert.deepInclude(found as Admitted, { principal: undefined, user: undefined })
  })

  it("`headers` decides by what stands before the body", () => {
    const stage = Stages.headers({ limits: { maxBodyBytes: 10 }, report })
    const path = served()
    const status = (headers: object, method = "POST", scopes?: ReadonlyArray<string>) =>
      run(stage, { path, sender: sender(scopes) }, request(method, "/mcp", headers)).exchange.status
    assert.isUndefined(status({}))
    assert.strictEqual(status({ accept: "text/html" }), 406)
    assert.strictEqual(status({ "transfer-encoding": "gzip" }), 400)
    assert.strictEqual(status({ "content-type": "text/plain" }), 415)
    assert.strictEqual(status({ "content-length": "11" }), 413)
    assert.isUndefined(status({ "content-length": "11" }, "GET", []))
  })

  it("`owner` passes a request on that another node may serve, and goes on when none does", () => {
    const stage = Stages.owner({ bodies, longBodies, draining: { arrived: 0, hasBegun: false } })
    assert.deepStrictEqual(run(stage, { path: served(), sender: sender() }).found, here)
    let local!: (body?: string) => void
    const away = served({ toOwner: () => (routed) => void (local = routed.local) })
    const one = run(stage, { path: away, sender: sender() })
    assert.strictEqual(one.found, Stage.HELD)
    local("text")
    assert.deepStrictEqual(one.found, { isUnknown: true, body: "text" })
  })

  it("`owner` passes nothing on once the endpoint drains", () => {
    const stage = Stages.owner({ bodies, longBodies, draining: { arrived: 0, hasBegun: true } })
    const from = sender() as TestExchange
    run(stage, { path: served({ toOwner: () => () => {} }), sender: from })
    assert.strictEqual(from.status, 503)
  })

  it("`bodiless` serves a GET and a DELETE", () => {
    const log: Array<string> = []
    const path = served({ get: () => void log.push("GET"), delete: () => void log.push("DELETE") })
    for (const method of ["GET", "DELETE"]) {
      assert.strictEqual(run(Stages.bodiless, { path, sender: sender() }, request(method)).found, Stage.HELD)
    }
    assert.isUndefined(run(Stages.bodiless, { path, sender: sender() }).found)
    assert.deepStrictEqual(log, ["GET", "DELETE"])
  })

  it("`body` reads the body once, also where `owner` has read it", () => {
    const stage = Stages.body({ bodies, longBodies })
    const unread = new TestExchange("POST", "/mcp", proper, "of the client")
    assert.deepInclude(run(stage, { path: served(), sender: sender(), owner: here }, unread), {
      found: "of the client"
    })
    const read = new TestExchange("POST", "/mcp", proper, "of the client")
    assert.deepInclude(
      run(stage, { path: served(), sender: sender(), owner: { isUnknown: false, body: "read" } }, read),
      {
        found: "read"
      }
    )
    assert.isFalse(read.read)
    const long = new TestExchange("POST", "/mcp", proper, "x".repeat(101))
    assert.strictEqual(run(stage, { path: served(), sender: sender(), owner: here }, long).exchange.status, 413)
  })

  it("`stillOwner` passes a request on whose session has moved, unless no node has the session", () => {
    const stage = Stages.stillOwner({ draining: { arrived: 0, hasBegun: false } })
    let passed: string | undefined
    const path = served({ toOwner: () => ({ read }) => read!((body) => void (passed = body)) })
    const found = { path, sender: sender(), body: "text" }
    assert.isUndefined(run(stage, { ...found, owner: { isUnknown: true, body: "text" } }).found)
    assert.isUndefined(passed)
    assert.strictEqual(run(stage, { ...found, owner: here }).found, Stage.HELD)
    assert.strictEqual(passed, "text")
  })

  it("`message` reads the message", () => {
    const stage = Stages.message({ limits: {} })
    const ping = Message.request(1, "ping")
    assert.deepStrictEqual(run(stage, { body: JSON.stringify(ping) }).found, ping)
    assert.isTrue(Message.isMalformed(run(stage, { body: "{" }).found as Message.Incoming))
  })

  it("`permission` finds the scopes of a message, and refuses a sender that lacks one", () => {
    const stage = (ofTask?: ReadonlyArray<string>) =>
      Stages.permission({
        report,
        requiredScopes: () => ["read"],
        taskScopes: () => ofTask && Effect.succeed(ofTask),
        fork: Effect.runSync
      })
    const message = call(1, "admin")
    assert.deepStrictEqual(run(stage(), { message, sender: sender(["read"]) }).found, ["read"])
    assert.deepStrictEqual(run(stage(["task"]), { message, sender: sender(["read", "task"]) }).found, ["read", "task"])
    assert.isUndefined(run(stage(["task"]), { message, sender: sender() }).found)
    for (
      const one of [
        run(stage(), { message, sender: sender([]) }),
        run(stage(["task"]), { message, sender: sender(["read"]) })
      ]
    ) {
      assert.deepStrictEqual([one.found, one.exchange.status, one.exchange.json.id], [Stage.HELD, 403, 1])
    }
  })

  it("`era` hands the sender, the message and its scopes to the transport", () => {
    let handed: ReadonlyArray<unknown> = []
    const from = sender()
    const path = served({
      post: (...all) => {
        handed = all
      }
    })
    const message = Message.request(1, "ping")
    assert.strictEqual(run(Stages.era, { path, sender: from, message, permission: ["read"] }).found, Stage.HELD)
    assert.deepStrictEqual(handed, [from, message, ["read"]])
  })
})
