import { assert, describe, it } from "@effect/vitest"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import { Effect, Logger, Queue, Ref, Stream } from "effect"
import { clientOf, markdown, withSkills } from "./Skilled.js"

const young = clientOf("2026-07-28")

const uris = (skills: ReadonlyArray<{ readonly uri: string }>) => skills.map(({ uri }) => uri)

describe("Skills that are read again", () => {
  it.effect("replace those that have changed, keep the others, and notify clients once", () =>
    Effect.gen(function*() {
      const files = yield* Ref.make<Record<string, string>>({
        "a/SKILL.md": markdown("a"),
        "b/SKILL.md": markdown("b"),
        "c/SKILL.md": markdown("c")
      })
      const reload = yield* Queue.unbounded<void>()
      const features = SkillsServer.layer(Effect.flatMap(Ref.get(files), (files) => SkillsServer.fromFiles(files)), {
        reload: Stream.fromQueue(reload)
      })
      yield* Effect.gen(function*() {
        const { peer, result } = yield* clientOf("2025-11-25")
        const skill = yield* result("skills/get", { uri: "skill://b/SKILL.md" })
        yield* result("resources/subscribe", { uri: "skill://b/SKILL.md" })
        yield* Ref.set(files, {
          "b/SKILL.md": markdown("b", "New"),
          "c/SKILL.md": markdown("c"),
          "d/SKILL.md": markdown("d")
        })
        yield* Queue.offer(reload, undefined)
        const updated = yield* peer.expectNotification("notifications/resources/updated")
        assert.deepStrictEqual(updated, { uri: "skill://b/SKILL.md" })
        yield* peer.expectNotification("notifications/resources/list_changed")
        const { skills } = yield* result("skills/list")
        assert.deepStrictEqual(uris(skills), ["skill://b/SKILL.md", "skill://c/SKILL.md", "skill://d/SKILL.md"])
        assert.notDeepEqual(skills[0], skill.skill)
        assert.strictEqual(skills[0].frontmatter.description, "New")
      }).pipe(Effect.scoped, Effect.provide(withSkills(features)))
    }))

  it.effect("stay as they are when they cannot be read, and the operator learns why", () =>
    Effect.gen(function*() {
      const files = yield* Ref.make<Record<string, string>>({ "a/SKILL.md": markdown("a") })
      const reload = yield* Queue.unbounded<void>()
      const logged = yield* Queue.unbounded<string>()
      const logger = Logger.make(({ cause, message }) => void logged.unsafeOffer(`${message} ${String(cause)}`))
      const features = SkillsServer.layer(Effect.flatMap(Ref.get(files), (files) => SkillsServer.fromFiles(files)), {
        reload: Stream.fromQueue(reload)
      })
      yield* Effect.gen(function*() {
        const { result } = yield* young
        yield* Ref.set(files, { "SKILL.md": markdown("a") })
        yield* Queue.offer(reload, undefined)
        const message = yield* Queue.take(logged)
        assert.include(message, "keeps the skills that it has")
        assert.include(message, "SKILL.md: a skill needs a directory with the name of the skill")
        assert.lengthOf((yield* result("skills/list")).skills, 1)
      }).pipe(
        Effect.scoped,
        Effect.provide(withSkills(features)),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
    }))
})
