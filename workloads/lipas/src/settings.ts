// Settings of LIPAS from LIPAS_* variables, and the WORKER_* defaults of its workers. Every mistake is told at once.
import type { WorkSettings } from 'millrace'
import { z } from 'zod'
import { nearest } from './nearest.ts'

const address = z.url({ protocol: /^https?$/, error: 'expected an address like https://example.com' })

const variables = z.object({
  LIPAS_SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'expected an address like smtp://user:password@host:587' }),
  LIPAS_MAIL_FROM: z.email('expected an e-mail address'),
  LIPAS_ALERT_TO: z.email('expected an e-mail address'),
  LIPAS_SLACK_WEBHOOK: address,
  LIPAS_ALERT_WEBHOOK_URL: address,
  LIPAS_ALERT_WEBHOOK_SECRET: z.string().regex(/^whsec_[\w+/=-]{24,}$/, 'expected whsec_ and at least 24 characters'),
  LIPAS_SEARCH_URL: address,
  LIPAS_SEARCH_API_KEY: z.string(),
  LIPAS_WCS_URL: address,
  LIPAS_MML_API_KEY: z.string(),
  LIPAS_OSRM_FOOT_URL: address,
  LIPAS_DISTANCE_MODE: z.enum(['route', 'euclid'], 'expected route or euclid'),
  LIPAS_UTP_URL: address,
  LIPAS_UTP_TOKEN_URL: address,
  LIPAS_UTP_CLIENT_ID: z.string(),
  LIPAS_UTP_CLIENT_SECRET: z.string(),
  LIPAS_UTP_SUBSCRIPTION_KEY: z.string(),
  LIPAS_UTP_SOURCE_ENV: z.string(),
  LIPAS_TIME_ZONE: z.string().refine(isTimeZone, 'expected a time zone like Europe/Helsinki'),
  LIPAS_SANDBOX: z.enum(['on', 'off'], 'expected on or off'),
  LIPAS_TRAFFIC: z.enum(['on', 'off'], 'expected on or off'),
})

export type LipasVariable = keyof typeof variables.shape
/** What the environment says. Nothing is filled in: see outside/addresses.ts. */
export type LipasSettings = Readonly<Partial<z.output<typeof variables>>>

/** The environment cannot be used: what happened, what was expected, what to do. */
export class SettingsUnusable extends Error {
  override readonly name = 'SettingsUnusable'

  constructor(problems: readonly string[]) {
    super(`The settings of LIPAS cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

type Env = Readonly<Record<string, string | undefined>>

export function readSettings(env: Env = process.env): LipasSettings {
  const known = Object.keys(variables.shape)
  const given = Object.entries(env).filter(([name, value]) => name.startsWith('LIPAS_') && value !== '')
  const unknown = given.flatMap(([name]) => (known.includes(name) ? [] : [unknownVariable(name, known)]))
  const parsed = variables.partial().safeParse(Object.fromEntries(given.filter(([name]) => known.includes(name))))
  const wrong = parsed.error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? []
  const problems = [...unknown, ...wrong, ...alertProblems((parsed.data ?? {}) as LipasSettings)]
  if (problems.length > 0) throw new SettingsUnusable(problems)
  return parsed.data as LipasSettings
}

/** Alerts go to one place beside the mails. */
function alertProblems({
  LIPAS_SLACK_WEBHOOK: slack,
  LIPAS_ALERT_WEBHOOK_URL: url,
  LIPAS_ALERT_WEBHOOK_SECRET: secret,
}: LipasSettings): string[] {
  if (slack !== undefined && url !== undefined)
    return ['LIPAS_SLACK_WEBHOOK and LIPAS_ALERT_WEBHOOK_URL are both set. Alerts go to one of them: unset the other.']
  if ((url === undefined) === (secret === undefined)) return []
  const [is, not] = url === undefined ? ['SECRET', 'URL'] : ['URL', 'SECRET']
  return [`LIPAS_ALERT_WEBHOOK_${is} is set without LIPAS_ALERT_WEBHOOK_${not}. Set both, or none.`]
}

function unknownVariable(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined
    ? `${name} is not a setting. There are: ${known.join(', ')}.`
    : `${name} is not a setting. Did you mean ${near}?`
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** What WORKER_* variables change. */
export const workSettings: WorkSettings = {
  lanes: {
    fast: { slots: 3, takes: 'fast', timeout: '2m' },
    general: { slots: 5, timeout: '20m' },
  },
  batchSize: 10,
  pollInterval: '3s',
  stuckAfter: '60m',
  timeouts: { analysis: '30m', elevation: '10m', email: '1m' },
  memory: { thresholdPercent: 85, checkInterval: '60s' },
}
