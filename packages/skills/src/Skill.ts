/**
 * A skill as a value: its front matter and its files, with their digests and sizes, and the errors that making and reading it
 * can have. `SkillsServer` makes skills and serves them.
 *
 * @see https://agentskills.io/specification
 * @since 0.1.0
 */
import type { Fails } from "@effect-mcp/server/Feature"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Frontmatter } from "./Skills.js"

/** @category models */
export interface SkillFile<out R = never> {
  readonly uri: string
  readonly mimeType: string
  /** Of its bytes, as entries have them; `undefined` for a file whose content is generated when it is read. */
  readonly stored: { readonly digest: string; readonly size: number } | undefined
  readonly read: Effect.Effect<Uint8Array, SkillChanged | Fails, R>
}

/**
 * A skill whose files require `R` to be read.
 *
 * @category models
 */
export interface Skill<out R = never> {
  /** The URI of its `SKILL.md`. */
  readonly uri: string
  readonly frontmatter: Frontmatter
  /** Without those of skills in directories of this one: entries add these. */
  readonly files: ReadonlyArray<SkillFile<R>>
  /** The URIs of its directories in which there is no file. */
  readonly emptyDirectories: ReadonlyArray<string>
}

/**
 * A skill cannot be served. The message names the file, and the line if it has one.
 *
 * @category errors
 */
export class SkillError extends Data.TaggedError("SkillError")<{
  readonly file: string
  /** Counted from 1. */
  readonly line?: number | undefined
  readonly problem: string
}> {
  override get message(): string {
    return `${this.file}${this.line === undefined ? "" : `:${this.line}`}: ${this.problem}`
  }
}

/**
 * A file is not the one any more that the server has the digest of. The client is told so, and gets no content.
 *
 * @category errors
 */
export class SkillChanged extends Data.TaggedError("SkillChanged")<{ readonly uri: string }> {
  override get message(): string {
    return `The file ${this.uri} has changed since the server read the skill`
  }
}
