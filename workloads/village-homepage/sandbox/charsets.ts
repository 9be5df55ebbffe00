// Text in the charsets of old feeds. Node decodes them, but encodes UTF-8 and Latin-1 only.

export type Charset = 'utf-8' | 'iso-8859-1' | 'shift_jis'

export function encoded(value: string, charset: Charset): Buffer {
  if (charset === 'utf-8') return Buffer.from(value)
  if (charset === 'iso-8859-1') return Buffer.from(value, 'latin1')
  return Buffer.concat([...value].map((character) => shiftJis().get(character) ?? Buffer.from('?')))
}

let table: Map<string, Buffer> | undefined

/** Made by decoding every byte, and every pair of bytes, once. */
function shiftJis(): Map<string, Buffer> {
  if (table !== undefined) return table
  const decoder = new TextDecoder('shift_jis', { fatal: true })
  const made = new Map<string, Buffer>()
  const add = (...bytes: number[]) => {
    try {
      const character = decoder.decode(Buffer.from(bytes))
      if ([...character].length === 1 && !made.has(character)) made.set(character, Buffer.from(bytes))
    } catch {
      // These bytes stand for nothing.
    }
  }
  for (let byte = 0; byte < 0x80; byte += 1) add(byte)
  for (let first = 0x81; first <= 0xfc; first += 1)
    for (let second = 0x40; second <= 0xfc; second += 1) add(first, second)
  table = made
  return made
}
