// The parts put together: contracts for the client, and handlers and a dispatcher for the worker.
import { createEgress, type EgressFetch } from '@millrace/egress'
import {
  DELIVER_TYPE,
  defineJob,
  defineQueues,
  ESCALATION_QUEUE,
  exponential,
  type Implementation,
  implement,
  type JobContract,
  type Logger,
  type Millrace,
} from 'millrace'
import { z } from 'zod'
import type { Channel } from './channel.ts'
import { deliver } from './deliver.ts'
import { Dispatcher } from './dispatcher.ts'
import { linksOf } from './links.ts'
import { Mailer, type MailOptions } from './mailer.ts'
import { type BusinessHours, officeOf } from './response-time.ts'
import { checkRouting, type Policy } from './routing.ts'

export interface EscalationOptions {
  /** By name: what policies and owners of queues refer to, like '#ops-alerts' or 'ops@example.com'. */
  channels: Readonly<Record<string, Channel>>
  /** The channel for all that has none of its own. Default: the first one. */
  ops?: string
  /** By name: what the option `escalation` of queues refers to. It may also name a channel. */
  policies?: Readonly<Record<string, Policy>>
  /** The channel for thresholds of budgets. Default: as the policy of the queue says. */
  budgets?: string
  businessHours?: BusinessHours
  mail?: MailOptions
  /** Where the admin is reached, for links. Default: MILLRACE_PUBLIC_URL. */
  publicUrl?: string
  /** Default: a guarded one of @millrace/egress, which reaches no private addresses. */
  fetch?: EgressFetch
  /** How often the outbox is looked at. Default 1000. */
  intervalMs?: number
}

export interface Escalation {
  /** For createMillrace({ jobs }). */
  readonly jobs: readonly JobContract[]
  /** For a worker of that client: its handlers, and the dispatcher, which begins at once. */
  attach(client: { millrace: Millrace; logger: Logger }): Delivery
}

export interface Delivery {
  readonly handlers: readonly Implementation[]
  /** Looks at the outbox now. Answers with the channels that have a job. For tests. */
  tick(): Promise<string[]>
  /** Resolves escalations of dead jobs about which it was decided. It happens every ten seconds by itself. */
  settle(): Promise<void>
  /** Before the worker stops, or after. */
  stop(): Promise<void>
}

const queues = defineQueues({
  [ESCALATION_QUEUE]: { priority: 0, concurrency: 4, use: 'deliver escalations to people', title: 'Escalation' },
})

const deliverJob = defineJob({
  type: DELIVER_TYPE,
  queue: queues[ESCALATION_QUEUE],
  payload: z.object({ channel: z.string() }),
  dedupe: { key: ({ channel }) => channel },
  timeout: '5m',
  retention: 'short',
  // An outage of a day at the other side: after that a new job takes over.
  retry: { attempts: 1_500, backoff: exponential({ base: '2s', jitter: 0.2, cap: '1m' }) },
})

export function defineEscalation(options: EscalationOptions): Escalation {
  const { channels, policies = {}, budgets, businessHours = {}, intervalMs = 1_000 } = options
  const ops = options.ops ?? Object.keys(channels)[0] ?? ''
  const routing = { channels, policies, ops, budgets, office: officeOf(businessHours) }
  checkRouting(routing)
  return {
    jobs: [deliverJob],
    attach({ millrace, logger }) {
      const mailer = new Mailer(options.mail)
      const egress = options.fetch === undefined ? createEgress() : undefined
      const services = {
        ...{ millrace, channels, mailer },
        fetch: options.fetch ?? (egress?.fetch as EgressFetch),
        links: linksOf(options.publicUrl ?? process.env.MILLRACE_PUBLIC_URL),
      }
      const dispatcher = new Dispatcher({ millrace, contract: deliverJob, routing, logger, intervalMs })
      return {
        handlers: [implement(deliverJob, ({ channel }, ctx) => deliver(services, channel, ctx))],
        tick: () => dispatcher.tick(),
        settle: () => dispatcher.settle(),
        async stop() {
          await dispatcher.stop()
          mailer.close()
          await egress?.close()
        },
      }
    },
  }
}
