// Where the outside services are: the configured address, or the sandbox's where none is configured.
import type { LipasSettings, LipasVariable } from '../settings.ts'

/** Where the outside services are, with the keys that they ask for. */
export interface Addresses {
  readonly mail: { readonly url: string; readonly from: string; readonly alertTo: string }
  /** Of Slack, or of a program that takes signed webhooks. */
  readonly alerts: string | undefined
  readonly search: { readonly url: string; readonly apiKey: string | undefined }
  readonly elevation: { readonly url: string; readonly apiKey: string | undefined }
  /** Undefined: distances are straight lines. */
  readonly routing: { readonly url: string } | undefined
  readonly utp: {
    readonly url: string
    readonly tokenUrl: string
    readonly clientId: string
    readonly clientSecret: string
    readonly subscriptionKey: string
    readonly sourceEnv: string
  }
}

/** The variables that point to a sandbox, as `lipas sandbox` prints them. */
export type SandboxVariables = Readonly<Partial<Record<LipasVariable, string>>>

export type Mode = 'dev' | 'work' | 'admin'

const NEEDED: readonly LipasVariable[] = [
  'LIPAS_SMTP_URL',
  'LIPAS_MAIL_FROM',
  'LIPAS_ALERT_TO',
  'LIPAS_SEARCH_URL',
  'LIPAS_WCS_URL',
  'LIPAS_UTP_URL',
  'LIPAS_UTP_TOKEN_URL',
  'LIPAS_UTP_CLIENT_ID',
  'LIPAS_UTP_CLIENT_SECRET',
  'LIPAS_UTP_SUBSCRIPTION_KEY',
]

/** A service that the process needs has no address or key. */
export class AddressesMissing extends Error {
  override readonly name = 'AddressesMissing'
  readonly variables: readonly string[]

  constructor(variables: readonly string[]) {
    const verb = variables.length === 1 ? 'is' : 'are'
    super(
      `LIPAS cannot start: ${variables.join(', ')} ${verb} not set. Set them, or start \`lipas sandbox\` and set what it prints. \`millrace dev\` starts a sandbox by itself.`,
    )
    this.variables = variables
  }
}

/** Without an address no service can be called: the sandbox stands in under `dev`. */
export function missing(settings: LipasSettings, mode: Mode): LipasVariable[] {
  const isRouted = settings.LIPAS_DISTANCE_MODE === 'route'
  const needed: readonly LipasVariable[] =
    mode === 'admin' ? ['LIPAS_SEARCH_URL'] : [...NEEDED, ...(isRouted ? (['LIPAS_OSRM_FOOT_URL'] as const) : [])]
  return needed.filter((variable) => settings[variable] === undefined)
}

export const mayUseSandbox = (settings: LipasSettings, mode: Mode): boolean =>
  mode === 'dev' && settings.LIPAS_SANDBOX !== 'off'

/** Throws AddressesMissing where neither the environment nor the sandbox has one. */
export function addressesOf(settings: LipasSettings, mode: Mode, sandbox: SandboxVariables = {}): Addresses {
  const all = { ...sandbox, ...settings } as LipasSettings
  const lacking = missing(all, mode)
  if (lacking.length > 0) throw new AddressesMissing(lacking)
  const text = (variable: LipasVariable): string => all[variable] ?? ''
  return {
    mail: { url: text('LIPAS_SMTP_URL'), from: text('LIPAS_MAIL_FROM'), alertTo: text('LIPAS_ALERT_TO') },
    alerts: all.LIPAS_SLACK_WEBHOOK ?? all.LIPAS_ALERT_WEBHOOK_URL,
    search: { url: text('LIPAS_SEARCH_URL'), apiKey: all.LIPAS_SEARCH_API_KEY },
    elevation: { url: text('LIPAS_WCS_URL'), apiKey: all.LIPAS_MML_API_KEY },
    routing: routingOf(all),
    utp: {
      url: text('LIPAS_UTP_URL'),
      tokenUrl: text('LIPAS_UTP_TOKEN_URL'),
      clientId: text('LIPAS_UTP_CLIENT_ID'),
      clientSecret: text('LIPAS_UTP_CLIENT_SECRET'),
      subscriptionKey: text('LIPAS_UTP_SUBSCRIPTION_KEY'),
      sourceEnv: all.LIPAS_UTP_SOURCE_ENV ?? 'dev',
    },
  }
}

/** Walking distances where there is a router, unless straight lines are asked for. */
function routingOf({ LIPAS_OSRM_FOOT_URL: url, LIPAS_DISTANCE_MODE: mode }: LipasSettings): Addresses['routing'] {
  return url === undefined || mode === 'euclid' ? undefined : { url }
}

/** host:port of every address that goes through the egress, for its allow-list. */
export function allowedOf({ alerts, elevation, routing, utp }: Addresses): string[] {
  const urls = [alerts, elevation.url, routing?.url, utp.url, utp.tokenUrl].filter(
    (url) => url !== undefined && url !== '',
  )
  return [...new Set(urls.map((url) => hostPort(new URL(url as string))))]
}

const hostPort = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
