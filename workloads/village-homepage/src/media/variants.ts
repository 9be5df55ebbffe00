// Smaller pictures of an original, without what cameras write into their files. Runs in a process of its own: libvips decodes what
// strangers send.
import sharp, { type Metadata, type Sharp } from 'sharp'
import type { VariantRole } from './media-store.ts'

// One process makes one picture at a time, and keeps nothing of it.
sharp.cache(false)
sharp.concurrency(1)
// Nothing else is opened, whatever a file claims to be: no SVG, TIFF or PDF.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}`),
})

/** Decoded, a pixel takes four bytes. */
const MOST_PIXELS = 40_000_000
const FORMATS = new Map([
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['heif', 'image/avif'],
  ['gif', 'image/gif'],
])

interface Size {
  readonly role: VariantRole
  readonly width: number
  readonly height: number
  /** cover: cut to this shape. inside: all of it, never enlarged. */
  readonly fit: 'cover' | 'inside'
}

const SIZES: readonly Size[] = [
  { role: 'thumb', width: 160, height: 120, fit: 'cover' },
  { role: 'card', width: 480, height: 360, fit: 'cover' },
  { role: 'full', width: 1280, height: 1280, fit: 'inside' },
]

export interface Variant {
  readonly role: VariantRole
  readonly format: 'webp' | 'avif'
  readonly width: number
  readonly height: number
  readonly bytes: Buffer
}

/** These bytes are no picture that we take. Trying again changes nothing. */
export class PictureRefused extends Error {
  override readonly name = 'PictureRefused'
}

/** `isShot`: a page begins at its left top, a photograph is about its middle. */
export async function variantsOf(
  original: Buffer,
  { isShot, onProgress }: { isShot: boolean; onProgress: (done: number, total: number) => void },
): Promise<Variant[]> {
  await demandPicture(original)
  const variants: Variant[] = []
  for (const { role, width, height, fit } of SIZES) {
    const resized = opened(original)
      .autoOrient()
      .resize({ width, height, fit, position: isShot ? 'left top' : 'centre', withoutEnlargement: fit === 'inside' })
    for (const [format, made] of [
      ['webp', resized.clone().webp({ quality: 80 })],
      ['avif', resized.clone().avif({ quality: 55, effort: 2 })],
    ] as const) {
      const { data, info } = await bytesOf(made)
      variants.push({ role, format, width: info.width, height: info.height, bytes: data })
      onProgress(variants.length, SIZES.length * 2)
    }
  }
  return variants
}

/** Metadata is dropped by default: sharp writes only what it is told to keep. */
const opened = (bytes: Buffer): Sharp => sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'error' })

async function demandPicture(bytes: Buffer): Promise<void> {
  const metadata = await metadataOf(bytes).catch((cause: unknown): never => {
    throw new PictureRefused('The file is no picture: expected JPEG, PNG, WebP, AVIF or GIF.', { cause })
  })
  const { format = 'unknown', width = 0, height = 0, compression } = metadata
  if (!FORMATS.has(format) || (format === 'heif' && compression !== 'av1'))
    throw new PictureRefused(`The file is ${format.toUpperCase()}: expected JPEG, PNG, WebP, AVIF or GIF.`)
  if (width * height > MOST_PIXELS)
    throw new PictureRefused(
      `The picture has ${width} × ${height} pixels: expected at most ${MOST_PIXELS / 1e6} million.`,
    )
}

/** Of an empty file sharp throws at once. */
const metadataOf = async (bytes: Buffer): Promise<Metadata> =>
  sharp(bytes, { limitInputPixels: false, failOn: 'error' }).metadata()

async function bytesOf(made: Sharp) {
  return made.toBuffer({ resolveWithObject: true }).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new PictureRefused(`The picture is damaged: ${why}`, { cause })
  })
}
