// Opens sockets for undici. The guard resolves and checks the name, and the socket goes to one of those addresses and
// to no other: a name that resolves differently a moment later changes nothing. Host header and TLS server name stay
// the name.
import type { LookupFunction } from 'node:net'
import { rootCertificates } from 'node:tls'
import { buildConnector } from 'undici'
import { type Guard, portOf, type ResolvedAddress } from './guard.ts'

/** Longest wait for a socket once the name is resolved. */
const CONNECT_MS = 10_000

export interface ConnectorOptions {
  /** Certificates (PEM) to trust besides the well-known ones. */
  ca?: readonly string[] | undefined
}

export function guardedConnector(guard: Guard, { ca }: ConnectorOptions): buildConnector.connector {
  const tls = ca === undefined ? {} : { ca: [...rootCertificates, ...ca] }
  return (options, callback) => {
    const { hostname, protocol, port } = options
    guard.resolve(hostname, portOf({ protocol, port } as URL)).then(
      (addresses) => {
        const connect = buildConnector({
          timeout: CONNECT_MS,
          autoSelectFamily: addresses.length > 1,
          lookup: pinnedLookup(addresses),
          ...tls,
        })
        connect(options, callback)
      },
      (error: Error) => callback(error, null),
    )
  }
}

/** Answers the checked addresses, whatever name it is asked for. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all || first === undefined) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
}
