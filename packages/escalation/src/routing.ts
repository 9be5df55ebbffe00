// Which channel an escalation goes to, and by when somebody should answer.
import { type EscalationRoute, InvalidDefinition, type UnroutedEscalation } from 'millrace'
import type { Channel } from './channel.ts'
import { checkRespondWithin, type Office, respondBy } from './response-time.ts'

/** What a queue's `escalation` names, or is. */
export interface Policy {
  /** The name of a channel. */
  readonly to: string
  /** '15m', '4h business hours' or 'next business day'. */
  readonly respondWithin?: string
}

export interface RoutingOptions {
  readonly channels: Readonly<Record<string, Channel>>
  readonly policies: Readonly<Record<string, Policy>>
  /** For all that has no channel of its own. */
  readonly ops: string
  /** For thresholds of budgets; undefined: as the queue's policy says. */
  readonly budgets: string | undefined
  readonly office: Office
}

export function checkRouting({ channels, policies, ops, budgets }: RoutingOptions): void {
  const names = Object.keys(channels)
  const demand = (name: string, where: string) => {
    if (Object.hasOwn(channels, name)) return
    throw new InvalidDefinition(`${where} names the channel "${name}", and there is none: ${names.join(', ')}.`)
  }
  demand(ops, 'ops')
  if (budgets !== undefined) demand(budgets, 'budgets')
  for (const [name, policy] of Object.entries(policies)) {
    demand(policy.to, `policies.${name}`)
    if (policy.respondWithin !== undefined) checkRespondWithin(policy.respondWithin, `policies.${name}`)
  }
}

export function routeOf(row: UnroutedEscalation, options: RoutingOptions, now: Date): EscalationRoute {
  const policy = policyOf(row, options)
  const route = { id: row.id, channel: policy.to, respondBy: null, dueAt: null, problem: null }
  const channel = Object.hasOwn(options.channels, policy.to) ? options.channels[policy.to] : undefined
  if (channel === undefined) {
    const known = Object.keys(options.channels).join(', ')
    return { ...route, problem: `There is no channel "${policy.to}". Known are: ${known}.` }
  }
  return {
    ...route,
    respondBy:
      policy.respondWithin === undefined ? null : respondBy(policy.respondWithin, row.createdAt, options.office),
    dueAt: row.kind === 'test' ? null : (channel.digest?.next(now) ?? null),
  }
}

function policyOf(row: UnroutedEscalation, options: RoutingOptions): Policy {
  const { kind, details, owner, toOwner } = row
  const { channels, ops, budgets } = options
  const isChannel = (name: string | undefined): name is string => name !== undefined && Object.hasOwn(channels, name)
  // A test of a channel that does not exist must say so.
  if (kind === 'test') return { to: String(details.channel) }
  if (toOwner) return { to: isChannel(owner?.address) ? owner.address : ops }
  const declared = declaredPolicy(row, options)
  if (kind === 'budget_threshold' && budgets !== undefined) return { ...declared, to: budgets }
  // A misspelt name must not lose the message.
  return isChannel(declared.to) ? declared : { ...declared, to: ops }
}

/** As plain data from the catalogue: it may be anything that a queue declares. */
function declaredPolicy({ policy }: UnroutedEscalation, { policies, ops }: RoutingOptions): Policy {
  if (policy === null) return { to: ops }
  if (typeof policy === 'string') return Object.hasOwn(policies, policy) ? (policies[policy] as Policy) : { to: policy }
  const { to, respondWithin } = policy
  const isUsable = typeof respondWithin === 'string' && isRespondWithin(respondWithin)
  return { to: typeof to === 'string' ? to : ops, ...(isUsable && { respondWithin }) }
}

function isRespondWithin(text: string): boolean {
  try {
    checkRespondWithin(text, '')
    return true
  } catch {
    return false
  }
}
