// Decides whether a URL may be called, and to which addresses its socket may go. Without a public address, only a host
// and port on the allow-list may be called.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { checkAddress } from './address.ts'
import { EgressError, EgressFailed, EgressRefused, shownUrl } from './errors.ts'

export interface ResolvedAddress {
  address: string
  family: number
}

/** Answers all addresses of a name. It throws if it cannot tell. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

export interface GuardOptions {
  allow?: readonly string[] | undefined
  ports?: readonly number[] | undefined
  resolve?: Resolve | undefined
}

const LOCAL_SUFFIXES = ['localhost', 'local', 'localdomain', 'internal', 'intranet', 'lan', 'home.arpa']

const platformResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true })

export class Guard {
  readonly #allowed: ReadonlySet<string>
  readonly #ports: ReadonlySet<number>
  readonly #resolve: Resolve

  constructor({ allow = [], ports = [80, 443], resolve = platformResolve }: GuardOptions) {
    this.#allowed = new Set(allow.map(canonicalEntry))
    for (const port of ports) if (!isPort(port)) throw badOption(`ports contains ${port}, which is not a port`)
    this.#ports = new Set(ports)
    this.#resolve = resolve
  }

  /** Refuses what the URL alone shows. `resolve` refuses the rest when a socket is opened. */
  checkUrl(url: URL): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new EgressRefused('scheme_refused', `Refused a URL with the scheme "${url.protocol}". Use http or https.`)
    }
    if (url.username !== '' || url.password !== '') {
      throw new EgressRefused(
        'credentials_in_url',
        `Refused ${shownUrl(url)}: the URL contains a user name or password. Send them in an Authorization header.`,
      )
    }
    this.#checkTarget(url.hostname, portOf(url), shownUrl(url))
  }

  /** The addresses to which a socket for this host and port may be opened. All answers of DNS must pass. */
  async resolve(hostname: string, port: number): Promise<readonly ResolvedAddress[]> {
    const target = targetOf(hostname, port)
    this.#checkTarget(hostname, port, target)
    const host = withoutBrackets(hostname)
    const family = isIP(host)
    if (family !== 0) return [{ address: host, family }]
    const answers = await this.#ask(hostname)
    if (this.#isAllowed(hostname, port)) return answers
    for (const { address } of answers) {
      const kind = checkAddress(address)
      if (kind !== undefined) {
        throw refusedAddress(target, `${hostname} resolves to ${address}, ${kind}`, hostname, port)
      }
    }
    return answers
  }

  #checkTarget(hostname: string, port: number, shown: string): void {
    if (this.#isAllowed(hostname, port)) return
    const host = canonicalHost(hostname)
    if (isIP(withoutBrackets(host)) === 0) {
      if (isLocalName(host)) {
        throw new EgressRefused(
          'local_name',
          `Refused ${shown}: "${host}" is a name inside a local network. ${allowHint(hostname, port)}`,
        )
      }
    } else {
      const kind = checkAddress(withoutBrackets(host))
      if (kind !== undefined) throw refusedAddress(shown, `${withoutBrackets(host)} is ${kind}`, hostname, port)
    }
    if (!this.#ports.has(port)) {
      throw new EgressRefused(
        'port_refused',
        `Refused ${shown}: port ${port} is not one of ${[...this.#ports].join(', ')}. Add it to createEgress({ ports }), or ${allowHint(hostname, port, 'add')}`,
      )
    }
  }

  #isAllowed(hostname: string, port: number): boolean {
    return this.#allowed.has(targetOf(hostname, port))
  }

  async #ask(hostname: string): Promise<readonly ResolvedAddress[]> {
    const name = canonicalHost(hostname)
    let answers: readonly ResolvedAddress[]
    try {
      answers = await this.#resolve(name)
    } catch (error) {
      throw new EgressFailed('dns_failed', `The name ${name} could not be resolved. Check the name and DNS.`, error)
    }
    if (answers.length === 0) {
      throw new EgressFailed('dns_failed', `The name ${name} has no address. Check the name and DNS.`)
    }
    return answers
  }
}

function refusedAddress(shown: string, what: string, hostname: string, port: number): EgressRefused {
  return new EgressRefused(
    'address_refused',
    `Refused ${shown}: ${what}. Only public addresses may be called. ${allowHint(hostname, port)}`,
  )
}

function allowHint(hostname: string, port: number, start = 'If you trust it, add'): string {
  return `${start} "${targetOf(hostname, port)}" to createEgress({ allow }).`
}

/** A name without a dot is completed by the search list of the machine, which is its own network. */
function isLocalName(host: string): boolean {
  return !host.includes('.') || LOCAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
}

function canonicalHost(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Undici strips the brackets of IPv6 addresses, URLs have them. */
function targetOf(hostname: string, port: number): string {
  const host = canonicalHost(withoutBrackets(hostname))
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

/** `Partner.example:8443` as a URL would write it. The port is mandatory, and nothing else is allowed beside it. */
function canonicalEntry(entry: string): string {
  const match = /^([^/?#@\\\s*]+):(\d{1,5})$/.exec(entry)
  const [, host = '', port = ''] = match ?? []
  if (match === null || !isPort(Number(port)) || !URL.canParse(`http://${host}/`)) {
    throw badOption(
      `allow contains ${JSON.stringify(entry)}, which is not "host:port", like "localhost:4000" or "[::1]:80"`,
    )
  }
  const url = new URL(`http://${host}/`)
  if (url.port !== '') throw badOption(`allow contains ${JSON.stringify(entry)}. Write an IPv6 address in brackets`)
  return targetOf(url.hostname, Number(port))
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535
}

function badOption(what: string): EgressError {
  return new EgressError('invalid_option', `createEgress cannot use its options: ${what}.`)
}
