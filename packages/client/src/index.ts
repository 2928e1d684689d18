/**
 * MCP clients as Effect services.
 *
 * @since 0.1.0
 */
export * as CallOptions from "./CallOptions.js"
export * as Client from "./Client.js"
export * as ClientError from "./ClientError.js"
export * as ClientOptions from "./ClientOptions.js"
export * as ClientSession from "./ClientSession.js"
export * as ClientSessionGroup from "./ClientSessionGroup.js"
export * as ExtensionCalls from "./ExtensionCalls.js"
export * as Features from "./Features.js"
export * as GroupEntries from "./GroupEntries.js"
export * as GroupError from "./GroupError.js"
export * as HttpRefused from "./HttpRefused.js"
export * as Notifications from "./Notifications.js"
export * as Pages from "./Pages.js"
export * as ProgressStream from "./ProgressStream.js"
export * as RemoteOptions from "./RemoteOptions.js"
export * as RequestContext from "./RequestContext.js"
export * as ServersConfig from "./ServersConfig.js"
export * as TaskCalls from "./TaskCalls.js"
export * as Tasks from "./Tasks.js"
export * as Telemetry from "./Telemetry.js"
export * as Typed from "./Typed.js"
