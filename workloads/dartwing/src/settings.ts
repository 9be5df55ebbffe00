// Settings of Dartwing from DARTWING_* variables. Every mistake is told at once.
import { z } from 'zod'

const address = z.url({ protocol: /^https?$/, error: 'expected an address like https://example.com' })
const text = z.string().min(1)

const variables = z.object({
  DARTWING_SANDBOX: z.enum(['on', 'off'], 'expected on or off'),
  DARTWING_BULK_RATE: z.enum(['queue', 'organization'], 'expected queue or organization'),
  DARTWING_TIME_ZONE: z.string().refine(isTimeZone, 'expected a time zone like Europe/Helsinki'),
  DARTWING_FILES: text,
  DARTWING_FAX_URL: address,
  DARTWING_FAX_PROJECT: text,
  DARTWING_FAX_KEY: text,
  DARTWING_FAX_SECRET: text,
  DARTWING_LINK_SECRET: z.string().min(32, 'expected a secret of at least 32 characters'),
  DARTWING_SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'expected an address like smtp://user:password@host:587' }),
  DARTWING_MAIL_FROM: z.email('expected an e-mail address'),
  DARTWING_KEYCLOAK_URL: address,
  DARTWING_KEYCLOAK_REALM: text,
  DARTWING_KEYCLOAK_CLIENT_ID: text,
  DARTWING_KEYCLOAK_CLIENT_SECRET: text,
  DARTWING_VAPID_SUBJECT: z.string().regex(/^(mailto:|https:)/, 'expected mailto: or https: with an address of yours'),
  DARTWING_VAPID_PUBLIC_KEY: z
    .string()
    .regex(/^[\w-]{87}$/, 'expected a public key of 87 characters; `npx web-push generate-vapid-keys` makes a pair'),
  DARTWING_VAPID_PRIVATE_KEY: z
    .string()
    .regex(/^[\w-]{43}$/, 'expected a private key of 43 characters; `npx web-push generate-vapid-keys` makes a pair'),
  DARTWING_ALLOW: z.string().regex(/^[^\s,]+:\d+(,[^\s,]+:\d+)*$/, 'expected host:port pairs, separated by commas'),
})

export type DartwingVariable = keyof typeof variables.shape
/** What the environment says. Nothing is filled in: see outside/addresses.ts. */
export type DartwingSettings = Readonly<Partial<z.output<typeof variables>>>

/** The environment cannot be used: what happened, what was expected, what to do. */
export class SettingsUnusable extends Error {
  override readonly name = 'SettingsUnusable'

  constructor(problems: readonly string[]) {
    super(`The settings of Dartwing cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

export function readSettings(env: Readonly<Record<string, string | undefined>> = process.env): DartwingSettings {
  const given = Object.entries(env).filter(([name, value]) => name.startsWith('DARTWING_') && value !== '')
  const known = Object.keys(variables.shape)
  const unknown = given
    .filter(([name]) => !known.includes(name))
    .map(([name]) => `${name} is not a setting: unset it. There are: ${known.join(', ')}.`)
  const parsed = variables.partial().safeParse(Object.fromEntries(given))
  const wrong = parsed.error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}. Correct or unset it.`)
  const problems = [...unknown, ...(wrong ?? []), ...halfPairs(given.map(([name]) => name))]
  if (problems.length > 0) throw new SettingsUnusable(problems)
  return parsed.data as DartwingSettings
}

/** One half of a key pair is of no use. */
function halfPairs(given: readonly string[]): string[] {
  const pair = ['DARTWING_VAPID_PUBLIC_KEY', 'DARTWING_VAPID_PRIVATE_KEY']
  const missing = pair.filter((name) => !given.includes(name))
  return missing.length === 1
    ? [`${missing[0]} is missing: the two keys of VAPID belong together. Set both, or neither.`]
    : []
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
