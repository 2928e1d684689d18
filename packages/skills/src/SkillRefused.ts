/**
 * Why a client does not use a skill, or a file of one: its entry breaks the rules, or what the server sent is not what the
 * entry says. `SkillsClient` fails with it before it gives any content to the application.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension#integrity-and-verification
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * - `Entry`: the entry of the skill breaks a rule of the extension.
 * - `TooLarge`: the skill, or its front matter, exceeds a limit of this client.
 * - `Dynamic`: the entry has no digests, and the client was not told to accept that.
 * - `Unlisted`: the entry does not have the file.
 * - `Content`: the server answered with something else than the one file that was requested.
 * - `Size`, `Digest`: the content is not the one that the entry describes.
 * - `FrontMatter`: that of `SKILL.md` is not the one of the entry.
 * - `Directory`: the server listed something that is not in the directory.
 *
 * @category models
 */
export type Reason =
  | "Entry"
  | "TooLarge"
  | "Dynamic"
  | "Unlisted"
  | "Content"
  | "Size"
  | "Digest"
  | "FrontMatter"
  | "Directory"

/** @category errors */
export class SkillRefused extends Data.TaggedError("SkillRefused")<{
  readonly reason: Reason
  /** Of the skill or the file, as the server or the application wrote it. */
  readonly uri: string
  readonly problem: string
}> {
  override get message(): string {
    return `${this.uri.length > 128 ? `${this.uri.slice(0, 128)}…` : this.uri}: ${this.problem}`
  }
}
