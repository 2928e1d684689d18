/**
 * OAuth for MCP clients and servers: logins, tokens, registrations, verification, scopes and DPoP.
 *
 * @since 0.1.0
 */
export * as AccessToken from "./AccessToken.js"
export * as Authorization from "./Authorization.js"
export * as AuthorizationCode from "./AuthorizationCode.js"
export * as AuthorizationError from "./AuthorizationError.js"
export * as AuthorizationServer from "./AuthorizationServer.js"
export * as Browser from "./Browser.js"
export * as ClientCredentials from "./ClientCredentials.js"
export * as ClientIdentity from "./ClientIdentity.js"
export * as CredentialDatabase from "./CredentialDatabase.js"
export * as CredentialStore from "./CredentialStore.js"
export * as DeviceAuthorization from "./DeviceAuthorization.js"
export * as Dpop from "./Dpop.js"
export * as EnterpriseManaged from "./EnterpriseManaged.js"
export * as Grant from "./Grant.js"
export * as IntrospectionVerifier from "./IntrospectionVerifier.js"
export * as JwtVerifier from "./JwtVerifier.js"
export * as ProviderExceptions from "./ProviderExceptions.js"
export * as Providers from "./Providers.js"
export * as ResourceServer from "./ResourceServer.js"
export * as TokenExchange from "./TokenExchange.js"
export * as TokenVerifier from "./TokenVerifier.js"
export * as Tokens from "./Tokens.js"
export * as WorkloadIdentity from "./WorkloadIdentity.js"
