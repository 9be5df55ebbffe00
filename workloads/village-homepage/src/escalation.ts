// Who is told of what: the queues name the channels, see queues.ts. Where the channels lead is known once the village has started.
import { type Channel, defineEscalation, digest, type Escalation, email, pagerduty, slack } from '@millrace/escalation'
import type { VillageConfig } from './config/read.ts'
import type { Outside } from './outside/outside.ts'
import { villageQueues } from './queues.ts'

/** Of the day, UTC, when the digest goes out. */
const DIGEST_HOUR = 7
const BUDGET_MAIL = 'budget-mail'

export function villageEscalation(config: VillageConfig, outside: Outside): Escalation {
  const { opsEmail } = config.jobs.escalation
  const channels: Record<string, Channel> = {
    '#ops-alerts': slack({
      get webhook() {
        return outside.addresses.slack.webhook
      },
    }),
    'vc-ops-high': pagerduty({
      get integrationKey() {
        return outside.addresses.pagerduty.integrationKey
      },
      get url() {
        return outside.addresses.pagerduty.url
      },
    }),
    [opsEmail]: digest({ to: opsEmail, hour: DIGEST_HOUR }),
    // Thresholds of the budget are told at once: tomorrow's digest may come after the money.
    [BUDGET_MAIL]: email({ to: opsEmail }),
    ...ownerChannels(config, outside),
  }
  return defineEscalation({
    channels,
    ops: '#ops-alerts',
    budgets: BUDGET_MAIL,
    fetch: outside.fetch,
    mail: {
      get url() {
        return outside.addresses.smtp.url
      },
      from: `village@${opsEmail.slice(opsEmail.indexOf('@') + 1)}`,
    },
  })
}

/**
 * A Slack webhook posts to one channel, so an owner's channel is there if it has a webhook. Without one #ops-alerts gets the
 * notice, which names the owner.
 */
function ownerChannels(config: VillageConfig, outside: Outside): Record<string, Channel> {
  const { slackWebhook, ownerWebhooks } = config.jobs.escalation
  const mayBeSandbox = config.sandbox === 'on' || (config.sandbox === 'auto' && slackWebhook === undefined)
  const owned = Object.entries(villageQueues(config)).flatMap(([name, { facts }]) => {
    const queue = name.toLowerCase()
    const { channel, address } = facts.owner ?? {}
    if (channel !== 'slack' || address === undefined) return []
    if (!mayBeSandbox && !Object.hasOwn(ownerWebhooks, queue)) return []
    const to = slack({
      get webhook() {
        return outside.addresses.slack.ownerWebhooks[queue] ?? outside.addresses.slack.webhook
      },
    })
    return [[address, to] as const]
  })
  return Object.fromEntries(owned)
}
