// Decompression. One encoding per answer: a chain of them is how small bombs become large ones.
import { type Duplex, pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { EgressFailed } from './errors.ts'

/** Node 20 has no zstd; its types do not know it. */
const createZstdDecompress = (zlib as { createZstdDecompress?: () => Duplex }).createZstdDecompress

/** Makes the decoder of a body that begins with this byte. */
type MakeDecoder = (first: number) => Duplex

const DECODERS = new Map<string, MakeDecoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['br', () => zlib.createBrotliDecompress()],
  // Servers disagree whether "deflate" has the zlib header. The low half of the header's first byte is 8.
  ['deflate', (first) => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw())],
])
if (createZstdDecompress) DECODERS.set('zstd', () => createZstdDecompress())

/** What a request accepts. */
export const ENCODINGS = [...DECODERS.keys()].filter((name) => !name.startsWith('x-')).join(', ')

/** The decoded body. An encoding that we do not know is passed through, as fetch does. */
export function decoded(body: Readable, contentEncoding: string | null, shown: string): AsyncIterable<Uint8Array> {
  const encodings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  if (encodings.length > 1) {
    throw new EgressFailed(
      'bad_response',
      `${shown} compressed its answer ${encodings.length} times over. One encoding is accepted.`,
    )
  }
  const makeDecoder = DECODERS.get(encodings[0] ?? '')
  return makeDecoder === undefined ? body : decodedBy(makeDecoder, body)
}

/** An empty body is empty in every encoding, although decoders call it truncated. */
async function* decodedBy(makeDecoder: MakeDecoder, body: Readable): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>
  const head = await chunks.next()
  if (head.done) return
  const whole = Readable.from(
    (async function* () {
      yield head.value
      yield* chunks
    })(),
  )
  // The reader of the decoder sees every error, so nothing is left to do when the pipeline ends.
  yield* pipeline(whole, makeDecoder(head.value[0] ?? 0), () => {})
}
