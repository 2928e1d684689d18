/**
 * Checks the order of tool uses and tool results in the messages to a model. The message after a message with tool uses must answer every
 * use. A message with tool results contains nothing else. The server checks the request that it sends (`server/Ask`), and the client checks
 * the request that it receives (`client/session/FeatureAnswers`). `SamplingContent` has the content of one message.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content-constraints
 */
import type { CreateMessageResult, SamplingMessage, ToolChoice } from "../Sampling.js"
import type { SamplingContent, ToolResultContent, ToolUseContent } from "../SamplingContent.js"

/** The rule that is broken, and the index of the message that breaks it. */
export interface Problem {
  readonly at: number
  readonly message: string
}

const blocks = ({ content }: Pick<SamplingMessage, "content">): ReadonlyArray<SamplingContent> =>
  Array.isArray(content) ? content as ReadonlyArray<SamplingContent> : [content as SamplingContent]

const isUse = (block: SamplingContent): block is ToolUseContent => block.type === "tool_use"
const isResult = (block: SamplingContent): block is ToolResultContent => block.type === "tool_result"

/** Returns the first rule that a list of messages breaks; `undefined` when the list breaks no rule. */
export const problem = (messages: ReadonlyArray<SamplingMessage>): Problem | undefined => {
  // The ids of the tool uses in the previous message.
  let unanswered: ReadonlySet<string> = new Set()
  for (let at = 0; at < messages.length; at++) {
    const wrong = broken(messages[at]!, unanswered)
    if (wrong !== undefined) return { at, message: wrong }
    const uses = blocks(messages[at]!).filter(isUse)
    unanswered = new Set(uses.map(({ id }) => id))
    if (unanswered.size < uses.length) return { at, message: "two tool uses have the same id" }
  }
  return unanswered.size === 0 ? undefined : { at: messages.length - 1, message: "a tool use is not answered" }
}

const broken = (
  message: Pick<SamplingMessage, "content" | "role">,
  unanswered: ReadonlySet<string>
): string | undefined => {
  const content = blocks(message)
  const results = content.filter(isResult)
  if (results.length > 0) {
    if (message.role !== "user") return "only a message of the user may have tool results"
    if (results.length < content.length) return "a message with tool results must not have other content"
  }
  if (content.some(isUse) && message.role !== "assistant") return "only a message of the assistant may use tools"
  const answered = new Set(results.map(({ toolUseId }) => toolUseId))
  if (answered.size < results.length) return "a tool use is answered twice"
  if ([...answered].some((id) => !unanswered.has(id))) {
    return "a tool result answers no tool use of the message before"
  }
  return [...unanswered].some((id) => !answered.has(id))
    ? "a tool use of the message before is not answered"
    : undefined
}

/**
 * Returns the rule that the answer of a model breaks, given the tool choice of the request; `undefined` when the answer breaks no rule.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-choice-modes
 */
export const problemOfAnswer = (
  answer: Pick<CreateMessageResult, "content" | "role">,
  choice: ToolChoice | undefined
): string | undefined => {
  const uses = blocks(answer).filter(isUse)
  return choice?.mode === "required" && uses.length === 0
    ? "the model had to use a tool"
    : choice?.mode === "none" && uses.length > 0
    ? "the model must not use a tool"
    : new Set(uses.map(({ id }) => id)).size < uses.length
    ? "two tool uses have the same id"
    : broken(answer, new Set())
}
