// The sandbox: the outside services that Dartwing uses, on one port of this machine, and a mail server.
// `millrace dev` starts it as a process of its own; tests start it in theirs.
import { randomBytes } from 'node:crypto'
import { type Block, Mailboxes, type Mode, Received, Switches, startFront, startSmtp } from '@millrace/sandbox'
import webPush from 'web-push'
import type { SandboxVariables } from '../outside/addresses.ts'
import { FAX_ACCOUNT, FaxService, type FaxServiceOptions } from './fax-service.ts'
import { KEYCLOAK, type KeycloakOptions, type KeycloakStandIn, startKeycloak } from './keycloak.ts'
import { PushService } from './push-service.ts'
import { Receivers } from './receivers.ts'

const TITLES = {
  fax: 'Fax gateway',
  push: 'Push service',
  receivers: 'Webhook receivers',
  smtp: 'Mail server',
} as const
export type ServiceName = keyof typeof TITLES

export interface SandboxOptions {
  /** Where to listen; the next free port if it is taken. Default: any free port. */
  readonly port?: number
  /** Whether services fail now and then by themselves. Default true. */
  readonly misbehaves?: boolean
  readonly fax?: FaxServiceOptions
  readonly keycloak?: KeycloakOptions
}

export interface Sandbox {
  /** Of the control page. */
  readonly url: string
  readonly fax: FaxService
  readonly push: PushService
  readonly receivers: Receivers
  readonly keycloak: KeycloakStandIn
  readonly mailboxes: Mailboxes
  readonly received: Received<ServiceName>
  /** They point a program to this sandbox. */
  readonly variables: SandboxVariables
  set(service: ServiceName, mode: Mode, options?: { delayMs?: number }): void
  stop(): Promise<void>
}

export async function startSandbox({
  misbehaves = true,
  port = 0,
  fax: faxOptions,
  keycloak: keycloakOptions,
}: SandboxOptions = {}): Promise<Sandbox> {
  const [switches, received, mailboxes] = [new Switches<ServiceName>(), new Received<ServiceName>(), new Mailboxes()]
  const keycloak = await startKeycloak(keycloakOptions)
  const services = { fax: new FaxService(faxOptions), push: new PushService(), receivers: new Receivers() }
  const smtp = await startSmtp({ mailboxes, received, switches, misbehaves })
  const front = await startFront({
    ...{ title: 'Sandbox of Dartwing', intro: INTRO, titles: TITLES, switches, received, services, port },
    blocks: () => blocksOf({ ...services, mailboxes }),
    state: () => ({
      faxes: services.fax.faxes,
      events: services.receivers.events,
      mails: mailboxes.mails.map(({ raw: _, ...mail }) => mail),
    }),
  })
  services.push.url = front.urlOf('push')
  const vapid = webPush.generateVAPIDKeys()
  return {
    ...{ url: front.url, ...services, keycloak, mailboxes, received },
    variables: {
      DARTWING_FAX_URL: front.urlOf('fax'),
      DARTWING_FAX_PROJECT: FAX_ACCOUNT.project,
      DARTWING_FAX_KEY: FAX_ACCOUNT.key,
      DARTWING_FAX_SECRET: FAX_ACCOUNT.secret,
      DARTWING_SMTP_URL: smtp.url,
      DARTWING_MAIL_FROM: 'dartwing@dartwing.example',
      DARTWING_KEYCLOAK_URL: keycloak.url,
      DARTWING_KEYCLOAK_REALM: KEYCLOAK.realm,
      DARTWING_KEYCLOAK_CLIENT_ID: KEYCLOAK.clientId,
      DARTWING_KEYCLOAK_CLIENT_SECRET: KEYCLOAK.clientSecret,
      DARTWING_LINK_SECRET: randomBytes(32).toString('base64'),
      DARTWING_VAPID_SUBJECT: 'mailto:operators@dartwing.example',
      DARTWING_VAPID_PUBLIC_KEY: vapid.publicKey,
      DARTWING_VAPID_PRIVATE_KEY: vapid.privateKey,
      DARTWING_ALLOW: `${front.address},${new URL(keycloak.url).host}`,
    },
    set: (service, mode, setting) => switches.set(service, mode, setting),
    async stop() {
      await keycloak.stop()
      await front.stop()
      await smtp.stop()
    },
  }
}

const INTRO =
  'These services stand in for the outside world of Dartwing. Nothing here leaves this machine. Break one, and watch whose jobs wait.'

const blocksOf = ({
  fax,
  push,
  receivers,
  mailboxes,
}: Pick<Sandbox, 'fax' | 'push' | 'receivers' | 'mailboxes'>): Block[] => [
  {
    title: 'Faxes',
    empty: 'No fax yet.',
    rows: fax.faxes.slice(0, 50).map(({ to, status, numberOfPages = 0, createTime, errorMessage, labels }) => ({
      ...{ label: `to ${to}`, tag: status, at: createTime },
      ...(status === 'COMPLETED' && { tone: 'good' as const }),
      ...(status === 'FAILURE' && { tone: 'bad' as const }),
      notes: [
        `${numberOfPages} page${numberOfPages === 1 ? '' : 's'}`,
        `job ${labels?.job ?? 'unknown'}`,
        ...(errorMessage === undefined ? [] : [errorMessage]),
      ],
    })),
  },
  {
    title: 'Pushed to browsers',
    empty: 'No message yet.',
    rows: push.messages.slice(0, 50).map(({ at, text }) => ({ label: text, at })),
  },
  {
    title: 'Events at webhook receivers',
    empty: 'No event yet.',
    rows: receivers.events
      .slice(0, 50)
      .map(({ receiver, type, id, at }) => ({ label: `${receiver}: ${type}`, at, notes: [id] })),
  },
  {
    title: 'Mail',
    empty: 'No mail yet.',
    rows: mailboxes.mails.map(({ to, at, subject, text }) => ({ label: subject, body: text, at, notes: [`to ${to}`] })),
  },
]
