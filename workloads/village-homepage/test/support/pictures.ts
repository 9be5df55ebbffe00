// Pictures of our own, and originals in the village's tables.
import { createHash, randomUUID } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import type { Village } from './setup.ts'

export const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#4080c0' } })

/** A photograph as cameras write it: lying on its side, with the place where it was taken. */
export const photograph = (width = 800, height = 600): Promise<Buffer> =>
  picture(width, height)
    .withExif({
      IFD0: { Make: 'Camera of a neighbour', Artist: 'Secret Name' },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '44/1 15/1 36/1',
        GPSLongitudeRef: 'W',
        GPSLongitude: '72/1 34/1 31/1',
      },
    })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()

export async function addOriginal(
  t: Village,
  bytes: Buffer,
  { ownerKind = 'listing', ownerId = randomUUID() as string, role = 'upload' } = {},
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const [row] = await t.sql<{ id: string }>(
    `insert into village.media (owner_kind, owner_id, role, content_type, sha256, bytes)
    values ($1, $2, $3, 'image/jpeg', $4, $5) returning id`,
    [ownerKind, ownerId, role, sha256, bytes],
  )
  return row?.id as string
}

export interface MediaRow {
  id: string
  role: string
  content_type: string
  width: number
  height: number
  bytes: Buffer
  cdn_url: string | null
}

export const variantRows = (t: Village, parent: string): Promise<MediaRow[]> =>
  t.sql<MediaRow>('select * from village.media where parent_id = $1 order by width, content_type', [parent])

/** A black PNG of any size in a few kilobytes, one bit a pixel. */
export function blackPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  const lines = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', lines), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
