// What a file is, by its first bytes. Enough to refuse at once what is no picture; whether it is a whole one is found out later.

const STARTS: readonly { readonly type: string; readonly at: number; readonly bytes: string }[] = [
  { type: 'image/jpeg', at: 0, bytes: '\xff\xd8\xff' },
  { type: 'image/png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/gif', at: 0, bytes: 'GIF8' },
  { type: 'image/webp', at: 8, bytes: 'WEBP' },
  { type: 'image/avif', at: 4, bytes: 'ftypavi' },
  { type: 'image/avif', at: 4, bytes: 'ftypmif1' },
]

/** Undefined: it is none that the village takes. */
export function pictureTypeOf(file: Uint8Array): string | undefined {
  const head = Buffer.from(file.subarray(0, 32)).toString('latin1')
  return STARTS.find(({ at, bytes }) => head.startsWith(bytes, at))?.type
}
