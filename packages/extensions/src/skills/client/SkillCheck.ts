/**
 * Checks what a server sends about a skill, before the client uses the skill. `refusal` checks that the entry of a skill follows the rules
 * of the extension. `content` checks that the answer to `resources/read` contains exactly the requested file. `SkillsClient` calls these
 * functions, and compares the digests of files itself.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension#skill-entries
 */
import type * as Resources from "@effect-mcp/core/protocol/Resources"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as FileBytes from "../format/FileBytes.js"
import * as SkillUri from "../format/SkillUri.js"
import { SkillRefused } from "../SkillRefused.js"
import * as Skills from "../Skills.js"

export interface Limits {
  readonly maxFiles: number
  readonly maxBytes: number
}

const refuser = (uri: string) => (problem: string, reason: "Entry" | "TooLarge" = "Entry") =>
  new SkillRefused({ reason, uri, problem })

/** Returns why an entry is refused; `undefined` when the entry follows all rules. */
export const refusal = ({ frontmatter, resources, uri }: Skills.Skill, limits: Limits): SkillRefused | undefined => {
  const refuse = refuser(uri)
  const root = SkillUri.root(uri)
  if (root === undefined) return refuse(`it is not the URI of a ${Skills.FILE}`)
  const name = SkillUri.nameOf(root)
  if (!Skills.isName(name)) return refuse("the name of the skill breaks the rules of Agent Skills")
  if (frontmatter.name !== name) {
    return refuse("the name in the front matter is not the name of the directory in the URI")
  }
  if (frontmatter.description.trim() === "") return refuse("the front matter has no description")
  if (resources === "dynamic") return undefined
  return filesRefusal(uri, root, resources, limits)
}

const filesRefusal = (
  main: string,
  root: string,
  resources: ReadonlyArray<Skills.SkillResource>,
  limits: Limits
): SkillRefused | undefined => {
  const refuse = refuser(main)
  if (resources.length > limits.maxFiles) {
    return refuse(`the skill has ${resources.length} files, and this client accepts ${limits.maxFiles}`, "TooLarge")
  }
  const seen = new Set<string>()
  const directories = new Set<string>()
  let bytes = 0
  for (const { digest, size, uri } of resources) {
    const path = SkillUri.within(root, uri)
    if (path === undefined) {
      return refuse(
        "the entry has a file that is not in the directory of the skill, or whose name is not safe on every system"
      )
    }
    const folded = SkillUri.folded(path)
    if (seen.has(folded)) return refuse("the entry has a file twice, or two files whose names differ in case only")
    if (!FileBytes.isDigest(digest)) {
      return refuse("the entry has a digest that is not sha256: and 64 hexadecimal digits")
    }
    if (!Number.isSafeInteger(size) || size < 0) return refuse("the entry has a size that is not a number of bytes")
    seen.add(folded)
    for (const directory of SkillUri.directories(folded)) directories.add(directory)
    bytes += size
  }
  if ([...seen].some((path) => directories.has(path))) return refuse("the entry has a file and a directory of one name")
  if (!resources.some((one) => one.uri === main)) {
    return refuse(`the entry does not have its ${Skills.FILE} among its files`)
  }
  return bytes > limits.maxBytes
    ? refuse(`the skill has ${bytes} bytes, and this client accepts ${limits.maxBytes}`, "TooLarge")
    : undefined
}

export interface FileContent {
  readonly bytes: Uint8Array
  readonly mimeType: string | undefined
}

/**
 * Returns the bytes of a file in the answer to `resources/read`. Fails for a content of more than `max` bytes, if possible before the
 * decoding.
 */
export const content = (
  uri: string,
  { contents }: Resources.ReadResourceResult,
  max: number
): Effect.Effect<FileContent, SkillRefused> =>
  Effect.suspend(() => {
    const [content] = contents
    if (contents.length !== 1 || content === undefined || content.uri !== uri) {
      return new SkillRefused({
        reason: "Content",
        uri,
        problem: "the answer of the server must contain this file and nothing else"
      })
    }
    const tooLong = new SkillRefused({ reason: "Size", uri, problem: `the file has more than ${max} bytes` })
    if ("text" in content) {
      // A character has at least one byte, so the file is too large.
      if (content.text.length > max) return tooLong
      const bytes = new TextEncoder().encode(content.text)
      return bytes.length > max ? tooLong : Effect.succeed({ bytes, mimeType: content.mimeType })
    }
    if (Math.floor(content.blob.length / 4) * 3 - 2 > max) return tooLong
    return Either.match(Encoding.decodeBase64(content.blob), {
      onLeft: () => new SkillRefused({ reason: "Content", uri, problem: "its content is not base64" }),
      onRight: (bytes) => bytes.length > max ? tooLong : Effect.succeed({ bytes, mimeType: content.mimeType })
    })
  })
