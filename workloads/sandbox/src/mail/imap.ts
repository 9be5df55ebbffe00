// A small IMAP4rev1 server without encryption, on loopback only. It shows the mails that the SMTP server was given.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ReceivedCall } from '../received.ts'
import type { Switches } from '../switches.ts'
import { BadCommand, CommandReader } from './imap-command.ts'
import { CAPABILITIES, ImapSession } from './imap-session.ts'
import type { Mailboxes } from './mailboxes.ts'

export interface ImapOptions {
  readonly mailboxes: Mailboxes
  readonly received: { add(call: ReceivedCall<'imap'>): void }
  readonly switches: Switches<'imap'>
}

export interface ImapStandIn {
  /** Of the account: any password will do. */
  urlOf(account: string): string
  stop(): Promise<void>
}

export async function startImap(options: ImapOptions): Promise<ImapStandIn> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A client that hangs up is its own affair.
    socket.on('error', () => {})
    serve(socket, options)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (account) => `imap://${encodeURIComponent(account)}:sandbox@127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function serve(socket: Socket, { mailboxes, received, switches }: ImapOptions): void {
  const { mode, delayMs } = switches.get('imap')
  if (mode === 'down') {
    socket.end('* BYE The service is not available\r\n')
    return
  }
  const session = new ImapSession({
    logIn(user) {
      const isRefused = mode === 'limited'
      const at = new Date().toISOString()
      received.add({ at, service: 'imap', what: `LOGIN ${user}`, status: isRefused ? 429 : 200 })
      return isRefused ? { refused: '[LIMIT] Too many logins, come back later' } : mailboxes.account(user)
    },
    write: (bytes) => void socket.write(bytes),
  })
  const reader = new CommandReader(() => void socket.write('+ go ahead\r\n'))
  socket.on('data', (bytes) => {
    try {
      for (const command of reader.read(bytes)) session.answer(command)
    } catch (error) {
      if (!(error instanceof BadCommand)) throw error
      socket.end(`* BYE ${error.message}\r\n`)
    }
    if (session.isOver) socket.end()
  })
  const greet = () => void socket.write(`* OK [CAPABILITY ${CAPABILITIES}] The sandbox is ready\r\n`)
  if (mode === 'slow') setTimeout(greet, delayMs)
  else greet()
}
