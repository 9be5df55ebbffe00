// What went wrong below HTTP, in our words.
import { errors } from 'undici'
import { EgressBudgetExceeded, EgressError, EgressFailed } from './errors.ts'

const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/

/** Undici's limit for the headers of an answer. */
const HEADER_BYTES = 16_384

export function networkError(error: unknown, shown: string): unknown {
  if (error instanceof EgressError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code ?? '') : ''
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new EgressBudgetExceeded(
      'too_many_bytes',
      HEADER_BYTES,
      `${shown} sent more than ${HEADER_BYTES} bytes of headers.`,
    )
  }
  if (TLS.test(code)) {
    return new EgressFailed(
      'tls_failed',
      `The TLS connection to ${shown} failed (${code}). Check the certificate; trust an authority of your own with createEgress({ ca }).`,
      error,
    )
  }
  // A TypeError: a header that the platform's Headers do not take.
  if (error instanceof errors.HTTPParserError || error instanceof TypeError) {
    return new EgressFailed('bad_response', `${shown} did not answer in valid HTTP.`, error)
  }
  return new EgressFailed(
    'connection_failed',
    `The connection to ${shown} failed (${code || 'unknown reason'}). Try again later.`,
    error,
  )
}
