// Where the outside services are: the configured address, or the sandbox's where none is configured.
import type { DartwingSettings, DartwingVariable } from '../settings.ts'

export type Mode = 'dev' | 'work' | 'admin'

/** Where the outside services are, with the keys that they ask for. */
export interface Addresses {
  readonly fax: { readonly url: string; readonly project: string; readonly key: string; readonly secret: string }
  readonly mail: { readonly url: string; readonly from: string }
  readonly keycloak: {
    readonly url: string
    readonly realm: string
    readonly clientId: string
    readonly clientSecret: string
  }
  /** By which push services know us. */
  readonly push: { readonly subject: string; readonly publicKey: string; readonly privateKey: string }
  /** host:port pairs of servers that may be called although they are not public. */
  readonly allow: readonly string[]
}

/** The variables that point to a sandbox. */
export type SandboxVariables = Readonly<Partial<Record<DartwingVariable, string>>>

const NEEDED = [
  'DARTWING_FAX_URL',
  'DARTWING_FAX_PROJECT',
  'DARTWING_FAX_KEY',
  'DARTWING_FAX_SECRET',
  'DARTWING_SMTP_URL',
  'DARTWING_MAIL_FROM',
  'DARTWING_KEYCLOAK_URL',
  'DARTWING_KEYCLOAK_REALM',
  'DARTWING_KEYCLOAK_CLIENT_ID',
  'DARTWING_KEYCLOAK_CLIENT_SECRET',
  'DARTWING_LINK_SECRET',
  'DARTWING_VAPID_SUBJECT',
  'DARTWING_VAPID_PUBLIC_KEY',
  'DARTWING_VAPID_PRIVATE_KEY',
] as const satisfies readonly DartwingVariable[]

/** A service that the process needs has no address or key. */
export class AddressesMissing extends Error {
  override readonly name = 'AddressesMissing'
  readonly variables: readonly string[]

  constructor(variables: readonly string[]) {
    const [verb, object] = variables.length === 1 ? ['is', 'it'] : ['are', 'them']
    super(
      `Dartwing cannot start: ${variables.join(', ')} ${verb} not set. Set ${object} to the address and keys of the real service. \`millrace dev\` starts a sandbox by itself.`,
    )
    this.variables = variables
  }
}

export const mayUseSandbox = (settings: DartwingSettings, mode: Mode): boolean =>
  mode === 'dev' && settings.DARTWING_SANDBOX !== 'off'

export const missing = (settings: DartwingSettings): DartwingVariable[] =>
  NEEDED.filter((variable) => settings[variable] === undefined)

/** Throws AddressesMissing where neither the environment nor the sandbox has one. */
export function addressesOf(settings: DartwingSettings, sandbox: SandboxVariables = {}): Addresses {
  const all = { ...sandbox, ...settings } as DartwingSettings
  const lacking = missing(all)
  if (lacking.length > 0) throw new AddressesMissing(lacking)
  const value = (variable: DartwingVariable): string => all[variable] ?? ''
  return {
    fax: {
      url: value('DARTWING_FAX_URL'),
      project: value('DARTWING_FAX_PROJECT'),
      key: value('DARTWING_FAX_KEY'),
      secret: value('DARTWING_FAX_SECRET'),
    },
    mail: { url: value('DARTWING_SMTP_URL'), from: value('DARTWING_MAIL_FROM') },
    keycloak: {
      url: value('DARTWING_KEYCLOAK_URL').replace(/\/$/, ''),
      realm: value('DARTWING_KEYCLOAK_REALM'),
      clientId: value('DARTWING_KEYCLOAK_CLIENT_ID'),
      clientSecret: value('DARTWING_KEYCLOAK_CLIENT_SECRET'),
    },
    push: {
      subject: value('DARTWING_VAPID_SUBJECT'),
      publicKey: value('DARTWING_VAPID_PUBLIC_KEY'),
      privateKey: value('DARTWING_VAPID_PRIVATE_KEY'),
    },
    allow: value('DARTWING_ALLOW').split(',').filter(Boolean),
  }
}

/** Of every address that goes through the egress, for its allow-list. */
export function allowedOf({ fax, keycloak, allow }: Addresses): string[] {
  const own = [fax.url, keycloak.url].map((url) => {
    const { hostname, port, protocol } = new URL(url)
    return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  })
  return [...new Set([...own, ...allow])]
}
