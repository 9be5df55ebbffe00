// The village's mailbox on an IMAP server.
import { ImapFlow } from 'imapflow'

export interface MailHead {
  readonly uid: number
  readonly bytes: number
  readonly messageId: string | undefined
}

export interface Mailbox {
  readonly uidValidity: bigint
  /** Smallest first. */
  uidsAfter(uid: number): Promise<number[]>
  /** Of those that are still there. */
  heads(uids: readonly number[]): Promise<MailHead[]>
  /** The whole mail, at most so many bytes of it. */
  source(uid: number, mostBytes: number): Promise<Buffer | undefined>
  /** Makes the folder if there is none. */
  move(uids: readonly number[], folder: string): Promise<void>
  close(): Promise<void>
}

const TIMES = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }
const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

export async function openMailbox(url: string, name: string, signal: AbortSignal): Promise<Mailbox> {
  const client = new ImapFlow({ ...settingsOf(url), ...TIMES, logger: false })
  // An error of a connection that nobody waits for would end the process; the command that waits is told by its promise.
  client.on('error', () => {})
  const abort = () => client.close()
  signal.addEventListener('abort', abort, { once: true })
  const close = async () => {
    signal.removeEventListener('abort', abort)
    await client.logout().catch(() => client.close())
  }
  try {
    signal.throwIfAborted()
    await client.connect()
    const { uidValidity } = await client.mailboxOpen(name)
    return { ...commandsOf(client), uidValidity, close }
  } catch (error) {
    await close()
    throw new Error(`The mailbox ${name} cannot be opened: ${reasonOf(error)}`, { cause: error })
  }
}

function commandsOf(client: ImapFlow): Pick<Mailbox, 'uidsAfter' | 'heads' | 'source' | 'move'> {
  const uid = { uid: true }
  return {
    async uidsAfter(last) {
      const found = await client.search({ uid: `${last + 1}:*` }, uid)
      if (!found) throw new Error('The mail server did not answer the search.')
      // '*' is the last mail, however small its number is.
      return found.filter((each) => each > last).sort((a, b) => a - b)
    },
    async heads(uids) {
      if (uids.length === 0) return []
      const found = await client.fetchAll(uids.join(), { size: true, headers: ['message-id'] }, uid)
      return found.map((head) => ({ uid: head.uid, bytes: head.size ?? 0, messageId: messageIdOf(head.headers) }))
    },
    async source(each, mostBytes) {
      const found = await client.fetchOne(String(each), { source: { maxLength: mostBytes } }, uid)
      return found ? found.source : undefined
    },
    async move(uids, folder) {
      const range = uids.join()
      if ((await client.messageMove(range, folder, uid)) !== false) return
      await client.mailboxCreate(folder)
      if ((await client.messageMove(range, folder, uid)) === false)
        throw new Error(`The mail server did not move a mail to ${folder}.`)
    },
  }
}

function messageIdOf(headers: Buffer | undefined): string | undefined {
  const unfolded = headers?.toString().replaceAll(/\r\n[ \t]+/g, ' ') ?? ''
  return /^message-id:\s*(\S.*?)\s*$/im.exec(unfolded)?.[1]
}

/** imaps:// is encrypted from the start; imap:// has to become so, unless the server is on this machine. */
function settingsOf(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = protocol === 'imaps:'
  return {
    host,
    secure,
    port: port === '' ? (secure ? 993 : 143) : Number(port),
    ...(!secure && !LOOPBACK.includes(host) && { doSTARTTLS: true }),
    auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
  }
}

/** The server's own words tell more than "Command failed". */
function reasonOf(error: unknown): string {
  const { responseText, message } = error as { responseText?: string; message?: string }
  return [message, responseText].filter((part) => part !== undefined && part !== '').join(' ')
}
