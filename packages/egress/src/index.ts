// The public surface, by name.
export type { Budget } from './budget.ts'
export { createEgress, type Egress, type EgressFetch, type EgressInit, type EgressOptions } from './egress.ts'
export {
  type BudgetCode,
  EgressBudgetExceeded,
  EgressError,
  type EgressErrorCode,
  EgressFailed,
  EgressRefused,
  type FailureCode,
  type RefusalCode,
  type WebhookCode,
  WebhookRejected,
} from './errors.ts'
export type { Resolve, ResolvedAddress } from './guard.ts'
export { type EgressProxy, type EgressProxyOptions, startEgressProxy } from './proxy/proxy.ts'
export type { ProxyBudget, ProxyCounts } from './proxy/traffic.ts'
export { readJson } from './read-json.ts'
export { retryAfterMs } from './retry-after.ts'
export {
  type SignOptions,
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  webhookSecret,
} from './webhook.ts'
