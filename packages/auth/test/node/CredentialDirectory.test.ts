import { assert, describe, it } from "@effect/vitest"
import { CredentialStore } from "@effect-mcp/auth/CredentialStore"
import * as CredentialDirectory from "@effect-mcp/auth/node/CredentialDirectory"
import { Clock, Deferred, Effect, Fiber, Redacted, TestClock } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Laws from "../CredentialStoreLaws.js"

const directory = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "credentials-"))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
)

const tokens = (value: string) => ({
  accessToken: Redacted.make(value),
  type: "Bearer" as const,
  expiresAt: 1,
  renewAt: undefined,
  refreshToken: undefined,
  scopes: ["a"]
})

/** Lets files be read and written, and then time pass. */
const passing = Effect.zipRight(
  Effect.promise(() => fs.stat(tmpdir())),
  TestClock.adjust("100 millis")
)

/** What a process writes to a file that it has opened fails, as on a full disk, until the scope closes. */
const fullDisk = Effect.gen(function*() {
  const path = join(yield* directory, "any")
  const file = yield* Effect.promise(() => fs.open(path, "w"))
  yield* Effect.promise(() => file.close())
  const handles = Object.getPrototypeOf(file) as Pick<fs.FileHandle, "writeFile" | "appendFile">
  const { appendFile, writeFile } = handles
  const full = () => Promise.reject(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }))
  yield* Effect.acquireRelease(
    Effect.sync(() => Object.assign(handles, { appendFile: full, writeFile: full })),
    () => Effect.sync(() => Object.assign(handles, { appendFile, writeFile }))
  )
})

/** Each is as that of a process of its own. */
const storeOf = (path: string) => Effect.provide(CredentialStore, CredentialDirectory.layer(path))

const ISSUER = "https://auth.test"

// One after the other, because a full disk is one for all of them.
describe.sequential("Credentials in a directory", () => {
  const pair = Effect.flatMap(directory, (path) => Effect.zip(storeOf(path), storeOf(path)))
  for (const { check, name } of Laws.laws) it.scoped(name, () => check(pair))

  it.scopedLive("are readable by the user only, and are found by another process", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "deep", "er")
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path))
      assert.isUndefined(yield* store.tokens.get(ISSUER, "r"))
      yield* store.tokens.set(tokens("t1"), ISSUER, "r")
      yield* store.tokens.set(tokens("t2"), ISSUER, "r")
      yield* store.bindings.set({ issuer: ISSUER, resource: "r", scopes: undefined, key: undefined }, "server")
      const mode = (one: string) => Effect.map(Effect.promise(() => fs.stat(one)), (stat) => stat.mode & 0o777)
      const names = yield* Effect.promise(() => fs.readdir(path))
      assert.lengthOf(names, 2)
      if (process.platform !== "win32") {
        assert.strictEqual(yield* mode(path), 0o700)
        for (const name of names) assert.strictEqual(yield* mode(join(path, name)), 0o600)
      }
      const other = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path))
      const found = yield* other.tokens.get(ISSUER, "r")
      assert.strictEqual(Redacted.value(found!.accessToken), "t2")
      assert.isUndefined(yield* other.tokens.get("https://other.test", "r"))
      yield* other.tokens.set(undefined, ISSUER, "r")
      yield* other.tokens.set(undefined, ISSUER, "r")
      assert.isUndefined(yield* store.tokens.get(ISSUER, "r"))
    }))

  it.scopedLive("that are damaged count as missing", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path))
      yield* store.tokens.set(tokens("t1"), ISSUER, "r")
      const [name] = yield* Effect.promise(() => fs.readdir(path))
      yield* Effect.promise(() => fs.writeFile(join(path, name!), "{\"accessToken\":1"))
      assert.isUndefined(yield* store.tokens.get(ISSUER, "r"))
    }))

  it.scopedLive("are whole, also when many writers replace them at once", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path))
      const write = (n: number) => store.tokens.set(tokens(`${n}-`.repeat(1000)), ISSUER, "r")
      const read = Effect.map(store.tokens.get(ISSUER, "r"), (found) =>
        found === undefined ? 0 : Redacted.value(found.accessToken).length)
      yield* write(1)
      const lengths = yield* Effect.all(
        Array.from({ length: 100 }, (_, n) =>
          n % 2 === 0 ? Effect.zipRight(write(2 + n % 8), read) : read),
        { concurrency: "unbounded" }
      )
      for (const length of lengths) assert.strictEqual(length, 2000)
      assert.lengthOf(yield* Effect.promise(() => fs.readdir(path)), 1)
    }))

  it.scopedLive("fail with reason Store where they cannot be written", () =>
    Effect.gen(function*() {
      const file = join(yield* directory, "file")
      yield* Effect.promise(() => fs.writeFile(file, ""))
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(file))
      const error = yield* Effect.flip(store.tokens.set(tokens("a-secret-token"), ISSUER, "r"))
      assert.strictEqual(error.reason, "Store")
      assert.notInclude(String(error.cause), "a-secret-token")
    }))

  it.scoped("are renewed after 15 seconds when the process that renewed them has ended without a word", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const stores = yield* Effect.all(
        Array.from({ length: 5 }, () => Effect.provide(CredentialStore, CredentialDirectory.layer(path)))
      )
      const name = yield* Deferred.make<string>()
      yield* stores[0]!.exclusive(
        Effect.flatMap(Effect.promise(() => fs.readdir(path)), ([file]) => Deferred.succeed(name, file!)),
        ISSUER,
        "r"
      )
      const file = join(path, yield* Deferred.await(name))
      yield* Effect.promise(() => fs.writeFile(file, "of a process that was killed"))
      let running = 0
      let most = 0
      const renew = Effect.acquireUseRelease(
        Effect.sync(() => most = Math.max(most, ++running)),
        () => passing,
        () => Effect.sync(() => running--)
      )
      const began = yield* Clock.currentTimeMillis
      const fibers = yield* Effect.forEach(stores, (store) => Effect.fork(store.exclusive(renew, ISSUER, "r")))
      while (fibers.some((fiber) => fiber.unsafePoll() === null)) yield* passing
      assert.isAtLeast((yield* Clock.currentTimeMillis) - began, 15_000)
      assert.strictEqual(most, 1)
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(path)), [])
    }))

  it.scopedLive("are renewed without a lock where none can be created", () =>
    Effect.gen(function*() {
      const file = join(yield* directory, "file")
      yield* Effect.promise(() => fs.writeFile(file, ""))
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(file))
      assert.strictEqual(yield* store.exclusive(Effect.succeed(1), ISSUER, "r"), 1)
    }))

  it.scopedLive("leave no lock behind on a full disk, which the next renewal would wait for", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path))
      const names = Effect.promise(() => fs.readdir(path))
      const during = yield* Effect.scoped(Effect.zipRight(fullDisk, store.exclusive(names, ISSUER, "r")))
      assert.deepStrictEqual(during, [])
      assert.deepStrictEqual(yield* names, [])
    }))

  it.scoped("stay locked when the disk was full for a time", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const store = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path))
      const isHeld = yield* Deferred.make<void>()
      const holding = Effect.zipRight(Deferred.succeed(isHeld, undefined), Effect.never)
      yield* Effect.forkScoped(Effect.interruptible(store.exclusive(holding, ISSUER, "r")))
      yield* Deferred.await(isHeld)
      const steps = Effect.repeatN(passing, 100)
      yield* Effect.scoped(Effect.zipRight(fullDisk, steps))
      yield* steps
      const [name] = yield* Effect.promise(() => fs.readdir(path))
      assert.match(yield* Effect.promise(() => fs.readFile(join(path, name!), "utf8")), /\+$/)
    }))

  it.scoped("stay locked as long as the disk is full", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const [one, other] = [yield* storeOf(path), yield* storeOf(path)]
      const isHeld = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const holding = Effect.zipRight(Deferred.succeed(isHeld, undefined), Deferred.await(mayEnd))
      const first = yield* Effect.fork(one.exclusive(holding, ISSUER, "r"))
      yield* Deferred.await(isHeld)
      const second = yield* Effect.fork(other.exclusive(Effect.void, ISSUER, "r"))
      // The process that waits looks at the file in each step.
      const step = Effect.zipRight(Effect.repeatN(Effect.promise(() => fs.stat(tmpdir())), 15), passing)
      yield* Effect.scoped(Effect.zipRight(fullDisk, Effect.repeatN(step, 200)))
      assert.isNull(second.unsafePoll())
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(first)
      while (second.unsafePoll() === null) yield* passing
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(path)), [])
    }))

  describe.skipIf(process.platform === "win32")("that others can read, write or own", () => {
    for (const mode of [0o755, 0o750, 0o701, 0o722]) {
      it.scopedLive(`are refused in a folder with mode 0${mode.toString(8)}, unless the application allows it`, () =>
        Effect.gen(function*() {
          const path = yield* directory
          const store = yield* storeOf(path)
          yield* store.tokens.set(tokens("t1"), ISSUER, "r")
          yield* Effect.promise(() => fs.chmod(path, mode))
          const calls = [
            store.tokens.get(ISSUER, "r"),
            store.tokens.set(tokens("t2"), ISSUER, "r"),
            store.bindings.get("server"),
            store.exclusive(Effect.void, ISSUER, "r")
          ]
          for (const call of calls) {
            const error = yield* Effect.flip(Effect.asVoid(call))
            assert.strictEqual(error.reason, "Store")
            const said = [path, `mode 0${mode.toString(8)}`, `chmod 700 ${path}`, "`allowOthers`"]
            for (const part of said) assert.include(error.message, part)
          }
          const allowed = yield* Effect.provide(CredentialStore, CredentialDirectory.layer(path, { allowOthers: true }))
          assert.strictEqual(Redacted.value((yield* allowed.tokens.get(ISSUER, "r"))!.accessToken), "t1")
          yield* allowed.exclusive(allowed.tokens.set(tokens("t3"), ISSUER, "r"), ISSUER, "r")
          yield* Effect.promise(() => fs.chmod(path, 0o700))
          assert.strictEqual(Redacted.value((yield* store.tokens.get(ISSUER, "r"))!.accessToken), "t3")
        }))
    }

    it.scopedLive("are refused in a file, also behind a link", () =>
      Effect.gen(function*() {
        const path = join(yield* directory, "folder")
        const link = `${path}-link`
        yield* Effect.promise(() => fs.symlink(path, link))
        const store = yield* storeOf(path)
        yield* store.tokens.set(tokens("t1"), ISSUER, "r")
        const [name] = yield* Effect.promise(() => fs.readdir(path))
        assert.isDefined(yield* (yield* storeOf(link)).tokens.get(ISSUER, "r"))
        yield* Effect.promise(() => fs.chmod(join(path, name!), 0o644))
        for (const place of [path, link]) {
          const { message } = yield* Effect.flip((yield* storeOf(place)).tokens.get(ISSUER, "r"))
          assert.include(message, `The file of credentials ${join(place, name!)} has mode 0644`)
          assert.include(message, `chmod 600 ${join(place, name!)}`)
        }
        yield* Effect.promise(() => fs.chmod(join(path, name!), 0o600))
        yield* Effect.promise(() => fs.chmod(path, 0o777))
        assert.include((yield* Effect.flip((yield* storeOf(link)).tokens.get(ISSUER, "r"))).message, "mode 0777")
      }))

    it.scopedLive("are refused when another user owns them", () =>
      Effect.gen(function*() {
        const path = yield* directory
        const store = yield* storeOf(path)
        yield* store.tokens.set(tokens("t1"), ISSUER, "r")
        const { getuid } = process
        const user = getuid!()
        yield* Effect.acquireRelease(
          Effect.sync(() => process.getuid = () => user + 1),
          () => Effect.sync(() => process.getuid = getuid!)
        )
        const { message } = yield* Effect.flip(store.tokens.get(ISSUER, "r"))
        assert.include(message, `belongs to user ${user}, and this program runs as user ${user + 1}`)
      }))
  })
})
