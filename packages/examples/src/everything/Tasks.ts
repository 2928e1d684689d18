/**
 * Tools that run as tasks, and one that does not. A client without tasks waits for the result, unless the tool needs a task. The official
 * conformance suite calls the tools by these names.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

class JobFailed extends Schema.TaggedError<JobFailed>()("JobFailed", { message: Schema.String }) {}

const Greet = Tool.make("greet", { description: "Greets at once.", parameters: { name: Schema.String } })

const SlowCompute = Tool.make("slow_compute", {
  description: "Computes for some seconds.",
  task: "optional",
  parameters: { seconds: Schema.Number, label: Schema.optional(Schema.String) }
})

const FailingJob = Tool.make("failing_job", {
  description: "Fails after a second.",
  task: "required",
  failure: JobFailed
})

const ProtocolErrorJob = Tool.make("protocol_error_job", {
  description: "Ends with an error of the protocol.",
  task: "optional"
})

const ConfirmDelete = Tool.make("confirm_delete", {
  description: "Asks before it deletes a file.",
  task: "optional",
  parameters: { filename: Schema.String }
})

const MultiInput = Tool.make("multi_input", { description: "Asks two things at once.", task: "optional" })

const AskThenWork = Tool.make("test_tool_with_task", {
  description: "Asks for a name, and then works for a while.",
  task: "required"
})

const Confirm = Schema.Struct({ confirm: Schema.Boolean })
const Name = Schema.Struct({ name: Schema.String })

export const layer = Layer.mergeAll(
  McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`)),
  McpServer.tool(
    SlowCompute,
    ({ label, seconds }) =>
      Effect.as(Effect.sleep(seconds * 1000), `${label ?? "The computation"} took ${seconds} seconds`)
  ),
  McpServer.tool(FailingJob, () => Effect.delay(new JobFailed({ message: "The job failed" }), "1 second")),
  McpServer.tool(
    ProtocolErrorJob,
    () => Effect.fail(new McpError.InternalError({ message: "The job broke the protocol" }))
  ),
  McpServer.tool(ConfirmDelete, ({ filename }) =>
    Effect.gen(function*() {
      const { elicit } = yield* ServerSession
      const answer = yield* elicit({ message: `Delete ${filename}?`, schema: Confirm })
      return answer.action === "accept" && answer.content.confirm ? `Deleted ${filename}` : `Kept ${filename}`
    })),
  McpServer.tool(MultiInput, () =>
    Effect.gen(function*() {
      const { ask } = yield* ServerSession
      const { friend, you } = yield* ask({
        you: Ask.elicit({ message: "What is your name?", schema: Name }),
        friend: Ask.elicit({ message: "What is the name of your friend?", schema: Name })
      })
      return JSON.stringify([you, friend])
    })),
  McpServer.tool(AskThenWork, () =>
    Effect.gen(function*() {
      const { ask, startTask } = yield* ServerSession
      const { user_name } = yield* ask({ user_name: Ask.elicit({ message: "What is your name?", schema: Name }) })
      yield* startTask
      yield* Effect.sleep("1 second")
      return `Hello, ${user_name.action === "accept" ? user_name.content.name : "you"}!`
    }), { startsTask: true }),
  TasksServer.layer
)
