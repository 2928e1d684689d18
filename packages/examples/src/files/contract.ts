/**
 * The definition of a server that deletes files: the client's user has to confirm each deletion. The server implements it,
 * and the client calls it.
 */
import * as Definition from "@effect-mcp/core/Definition"
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

export class FileNotFound extends Schema.TaggedError<FileNotFound>()("FileNotFound", { file: Schema.String }) {}

export const List = Tool.make("list", {
  description: "The names of all files.",
  success: Schema.Struct({ files: Schema.Array(Schema.String) }),
  annotations: { readOnlyHint: true }
})

export const Delete = Tool.make("delete", {
  description: "Deletes a file, after the user has confirmed it.",
  parameters: { file: Schema.String },
  success: Schema.Struct({ deleted: Schema.Boolean }),
  failure: FileNotFound,
  annotations: { destructiveHint: true }
})

export const Files = Definition.make(List, Delete)
