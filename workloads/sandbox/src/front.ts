// One port of this machine for all HTTP services of a sandbox: the first part of the path is the service's name.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ControlOptions, control } from './control.ts'
import { type Answer, bodyOf, type Call, type Service, send, text } from './exchange.ts'

export interface FrontOptions<Name extends string, Http extends Name> extends ControlOptions<Name> {
  /** Those that speak HTTP. The others, such as a mail server, have a switch and a port of their own. */
  readonly services: Readonly<Record<Http, Service>>
  /** Where to listen; the next free port if it is taken. Default: any free port. */
  readonly port?: number
}

export interface Front<Http extends string> {
  /** Of the control page. */
  readonly url: string
  /** host:port, for the allow-list of the egress. */
  readonly address: string
  /** Where a service is reached, without a slash at the end. */
  urlOf(service: Http): string
  stop(): Promise<void>
}

export async function startFront<Name extends string, Http extends Name>(
  options: FrontOptions<Name, Http>,
): Promise<Front<Http>> {
  const server = createServer((request, response) => {
    answer(request, options)
      .then((found) => send(response, found))
      .catch(() => fail(response))
  })
  const port = await listen(server, options.port ?? 0)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    address: `127.0.0.1:${port}`,
    urlOf: (service) => `${url}/${service}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One port above that of the program itself, or the next free one: where `millrace dev` puts a sandbox. */
export function portBeside(port = Number(process.env.PORT || 8_080)): number {
  return Number.isInteger(port) && port > 0 && port < 65_000 ? port + 1 : 0
}

async function answer<Name extends string, Http extends Name>(
  request: IncomingMessage,
  options: FrontOptions<Name, Http>,
): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://sandbox')
  const body = await bodyOf(request)
  if (body === undefined) return text(413, 'The request is too large for the sandbox.')
  const { method = 'GET', headers } = request
  const [, prefix = '', ...rest] = url.pathname.split('/')
  const call = { method, path: `/${rest.join('/')}`, query: url.searchParams, headers, body }
  if (!Object.hasOwn(options.services, prefix)) return control({ ...call, path: url.pathname }, options)
  const service = prefix as Http
  const answered = await switched(service, call, options)
  // A key is nobody's business, even one for the sandbox.
  url.searchParams.delete('apikey')
  const what = `${method} ${call.path}${url.search}`
  options.received.add({ at: new Date().toISOString(), service, what, status: answered.status })
  return answered
}

async function switched<Name extends string, Http extends Name>(
  name: Http,
  call: Call,
  { services, switches }: FrontOptions<Name, Http>,
): Promise<Answer> {
  const { mode, delayMs } = switches.get(name)
  if (mode === 'down') return text(503, 'Service Unavailable')
  if (mode === 'limited') return services[name].limited(call)
  if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, delayMs))
  return services[name].answer(call)
}

/** Loopback only: the sandbox has no passwords. */
async function listen(server: Server, port: number): Promise<number> {
  const tries = port === 0 ? [0] : [port, port + 1, port + 2, port + 3, 0]
  for (const each of tries) {
    const isOurs = await new Promise<boolean>((resolve, reject) => {
      const refuse = (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error))
      server.once('error', refuse)
      server.listen(each, '127.0.0.1', () => {
        server.off('error', refuse)
        resolve(true)
      })
    })
    if (isOurs) return (server.address() as AddressInfo).port
  }
  throw new Error(`The sandbox found no free port from ${port} on. Give it another one.`)
}

function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else send(response, text(500, 'The sandbox failed to answer.'))
}
