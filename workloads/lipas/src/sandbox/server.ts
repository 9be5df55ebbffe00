// The sandbox: the outside services that LIPAS uses, on one port of this machine, and a mail server.
// `millrace dev` starts it as a process of its own (start.ts), so that its computing does not block the worker; tests start it in theirs.
import {
  type Block,
  Mailboxes,
  type Mode,
  Received,
  type Service,
  Switches,
  startFront,
  startSmtp,
} from '@millrace/sandbox'
import type { SandboxVariables } from '../outside/addresses.ts'
import { planMailOutages } from './mail-outage.ts'
import { Osrm } from './osrm.ts'
import { SearchServer } from './search.ts'
import { UTP_CREDENTIALS, Utp, type UtpOptions } from './utp.ts'
import { Wcs } from './wcs.ts'

export const MAIL_FROM = 'lipas@lipas.example'
export const ALERT_TO = 'operators@lipas.example'

const TITLES = {
  smtp: 'Mail server',
  search: 'Search',
  wcs: 'Elevation (WCS)',
  osrm: 'Router (OSRM)',
  utp: 'Partner (UTP)',
} as const
export type ServiceName = keyof typeof TITLES

export interface SandboxOptions {
  /** Where to listen; the next free port if it is taken. Default: any free port. */
  readonly port?: number
  /** Whether services fail now and then by themselves. Default true. */
  readonly misbehaves?: boolean
  readonly utp?: UtpOptions
}

export interface Sandbox {
  /** Of the control page. */
  readonly url: string
  readonly utp: Utp
  readonly search: SearchServer
  readonly wcs: Wcs
  readonly osrm: Osrm
  readonly mailboxes: Mailboxes
  readonly received: Received<ServiceName>
  /** They point a program to this sandbox. */
  readonly variables: SandboxVariables
  set(service: ServiceName, mode: Mode, options?: { delayMs?: number }): void
  stop(): Promise<void>
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { misbehaves = true, port = 0 } = options
  const [switches, received, mailboxes] = [new Switches<ServiceName>(), new Received<ServiceName>(), new Mailboxes()]
  const [search, wcs, osrm, utp] = [new SearchServer(), new Wcs({ misbehaves }), new Osrm(), new Utp(options.utp)]
  // Every service that speaks HTTP: the first part of the path is its name.
  const services = { search, wcs, osrm, utp } satisfies Partial<Record<ServiceName, Service>>
  const smtp = await startSmtp({ mailboxes, received, switches, misbehaves: false })
  const front = await startFront({
    ...{ title: 'Sandbox of LIPAS', intro: INTRO, titles: TITLES, switches, received, services, port },
    blocks: () => blocksOf({ mailboxes, utp }),
    state: () => ({ mails: mailboxes.mails.map(({ raw: _, ...mail }) => mail), partner: utp.calls }),
  })
  const endOutages = misbehaves ? planMailOutages(switches) : () => {}
  return {
    ...{ url: front.url, search, wcs, osrm, utp, mailboxes, received },
    variables: {
      LIPAS_SMTP_URL: smtp.url,
      LIPAS_MAIL_FROM: MAIL_FROM,
      LIPAS_ALERT_TO: ALERT_TO,
      LIPAS_SEARCH_URL: front.urlOf('search'),
      LIPAS_WCS_URL: front.urlOf('wcs'),
      LIPAS_OSRM_FOOT_URL: front.urlOf('osrm'),
      LIPAS_UTP_URL: `${front.urlOf('utp')}/objects`,
      LIPAS_UTP_TOKEN_URL: `${front.urlOf('utp')}/token`,
      LIPAS_UTP_CLIENT_ID: UTP_CREDENTIALS.clientId,
      LIPAS_UTP_CLIENT_SECRET: UTP_CREDENTIALS.clientSecret,
      LIPAS_UTP_SUBSCRIPTION_KEY: UTP_CREDENTIALS.subscriptionKey,
    },
    set: (service, mode, setting) => switches.set(service, mode, setting),
    async stop() {
      endOutages()
      await front.stop()
      await smtp.stop()
    },
  }
}

const INTRO =
  'These services stand in for the outside world of LIPAS. Nothing here leaves this machine. Break one, save a place, and watch what the jobs do.'

const blocksOf = ({ mailboxes, utp }: Pick<Sandbox, 'mailboxes' | 'utp'>): Block[] => [
  {
    title: 'Mail',
    empty: 'No mail yet. Save a place, and its owner gets one.',
    rows: mailboxes.mails.map(({ to, at, subject, text, deliveries }) => ({
      ...{ label: subject, body: text, at },
      notes: [`to ${to}`, ...(deliveries > 1 ? [`delivered ${deliveries} times, shown once`] : [])],
    })),
  },
  {
    title: 'Told to the partner',
    empty: 'Nothing yet. Every save of a place is told to the partner.',
    rows: utp.calls.map(({ at, webhookId, objects, deliveries }) => ({
      label: objects.slice(0, 5).join(', ') + (objects.length > 5 ? ` and ${objects.length - 5} more` : ''),
      at,
      notes: [`webhook-id ${webhookId}`, ...(deliveries > 1 ? [`delivered ${deliveries} times, counted once`] : [])],
    })),
  },
]
