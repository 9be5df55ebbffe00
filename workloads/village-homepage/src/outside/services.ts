// The services outside the village: where each is, what it needs, and whether the sandbox stands in for it.
import type { VillageConfig } from '../config/read.ts'

/** Where the outside services are, with the keys that they ask for. */
export interface Addresses {
  readonly anthropic: { readonly baseUrl: string; readonly apiKey: string }
  readonly 'alpha-vantage': { readonly baseUrl: string; readonly apiKey: string }
  readonly stooq: { readonly baseUrl: string }
  readonly nws: { readonly baseUrl: string; readonly userAgent: string }
  readonly 'open-meteo': { readonly baseUrl: string }
  readonly pagerduty: { readonly url: string; readonly integrationKey: string }
  /** By queue, in small letters, the webhooks of owners' channels that have one. */
  readonly slack: { readonly webhook: string; readonly ownerWebhooks: Readonly<Record<string, string>> }
  readonly smtp: { readonly url: string }
  readonly imap: { readonly url: string }
  /** Without a slash at the end. An empty putUrl: there is no CDN. */
  readonly cdn: { readonly putUrl: string; readonly publicUrl: string; readonly token: string }
}

export type ServiceName = keyof Addresses
export type Stand = 'real' | 'sandbox'

/** What stands in for outside services under `millrace dev`. */
export interface Sandbox {
  /** Of its page. */
  readonly url: string
  readonly addresses: Addresses
  /** host:port pairs that the guarded fetch may reach. */
  readonly allow: readonly string[]
  stop(): Promise<void>
}

/** What a service needs before it can be called, and the queues whose jobs call it. */
interface Need {
  readonly variable: string
  readonly queues: 'every' | readonly string[]
  /** The village does without it. */
  readonly isOptional?: boolean
  isThere(config: VillageConfig): boolean
}

const NEEDS: Readonly<Record<ServiceName, Need | undefined>> = {
  anthropic: { variable: 'ANTHROPIC_API_KEY', queues: ['BULK'], isThere: ({ ai }) => ai.apiKey !== undefined },
  'alpha-vantage': {
    variable: 'ALPHAVANTAGE_API_KEY',
    queues: ['HIGH'],
    isThere: ({ stocks }) => stocks.apiKey !== undefined,
  },
  stooq: undefined,
  nws: {
    variable: 'NWS_USER_AGENT',
    queues: ['DEFAULT'],
    isThere: ({ weather }) => weather.nwsUserAgent !== undefined,
  },
  'open-meteo': undefined,
  // Every worker delivers escalations, whatever queues it serves.
  pagerduty: {
    variable: 'PAGERDUTY_INTEGRATION_KEY',
    queues: 'every',
    isThere: ({ jobs }) => jobs.escalation.pagerdutyKey !== undefined,
  },
  slack: {
    variable: 'SLACK_OPS_WEBHOOK',
    queues: 'every',
    isThere: ({ jobs }) => jobs.escalation.slackWebhook !== undefined,
  },
  smtp: { variable: 'SMTP_URL', queues: 'every', isThere: ({ mail }) => mail.smtpUrl !== undefined },
  imap: { variable: 'IMAP_URL', queues: ['DEFAULT'], isThere: ({ mail }) => mail.imapUrl !== undefined },
  cdn: {
    ...{ variable: 'CDN_PUT_URL', queues: ['BULK'], isOptional: true },
    isThere: ({ cdn }) => cdn.putUrl !== undefined,
  },
}

/** Services that need no key follow one that does: a sandbox for one exchange is one for both. */
const FOLLOWS: Partial<Record<ServiceName, ServiceName>> = { stooq: 'alpha-vantage', 'open-meteo': 'nws' }

export interface StartFacts {
  readonly mode: 'dev' | 'work' | 'admin'
  readonly queues: readonly string[]
}

/** A service that the process needs has no address or key. */
export class ServicesMissing extends Error {
  override readonly name = 'ServicesMissing'
  readonly variables: readonly string[]

  constructor(variables: readonly string[]) {
    super(
      `Village Homepage cannot start: ${variables.join(', ')} ${variables.length === 1 ? 'is' : 'are'} not set. Set them, or the keys of application.yaml that name them. Only \`millrace dev\` has a sandbox.`,
    )
    this.variables = variables
  }
}

/** By service, who answers. Throws ServicesMissing where a real one is needed and its variable is not set. */
export function standsOf(config: VillageConfig, { mode, queues }: StartFacts): Record<ServiceName, Stand> {
  const names = Object.keys(NEEDS) as ServiceName[]
  const isMissing = (name: ServiceName): boolean => NEEDS[name]?.isThere(config) === false
  const mayUseSandbox = mode === 'dev' && config.sandbox !== 'off'
  const stand = (name: ServiceName): Stand =>
    mayUseSandbox && (config.sandbox === 'on' || isMissing(FOLLOWS[name] ?? name)) ? 'sandbox' : 'real'
  const isUsed = (name: ServiceName): boolean => {
    const { queues: users = [], isOptional = false } = NEEDS[name] ?? {}
    if (isOptional) return false
    return users === 'every' || users.some((queue) => queues.includes(queue))
  }
  const missing = names.filter((name) => mode !== 'admin' && stand(name) === 'real' && isUsed(name) && isMissing(name))
  if (missing.length > 0) throw new ServicesMissing(missing.map((name) => NEEDS[name]?.variable ?? name))
  return Object.fromEntries(names.map((name) => [name, stand(name)])) as Record<ServiceName, Stand>
}

/** The real addresses. What is not set is empty: `standsOf` has refused it where it is needed. */
export function realAddresses({ ai, stocks, weather, mail, jobs, cdn }: VillageConfig): Addresses {
  const { escalation } = jobs
  return {
    anthropic: { baseUrl: ai.baseUrl, apiKey: ai.apiKey ?? '' },
    'alpha-vantage': { baseUrl: stocks.baseUrl, apiKey: stocks.apiKey ?? '' },
    stooq: { baseUrl: stocks.fallbackUrl },
    nws: { baseUrl: weather.nwsUrl, userAgent: weather.nwsUserAgent ?? '' },
    'open-meteo': { baseUrl: weather.openMeteoUrl },
    pagerduty: { url: escalation.pagerdutyUrl, integrationKey: escalation.pagerdutyKey ?? '' },
    slack: {
      webhook: escalation.slackWebhook ?? '',
      ownerWebhooks: escalation.ownerWebhooks as Record<string, string>,
    },
    smtp: { url: mail.smtpUrl ?? '' },
    imap: { url: mail.imapUrl ?? '' },
    cdn: {
      putUrl: withoutSlash(cdn.putUrl ?? ''),
      publicUrl: withoutSlash(cdn.publicUrl ?? cdn.putUrl ?? ''),
      token: cdn.token ?? '',
    },
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
