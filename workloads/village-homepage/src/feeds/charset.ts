// The text of a feed: which charset its bytes are in. The byte order mark decides, then Content-Type, then the XML
// declaration; else it is UTF-8.

/** A declaration stands at the very beginning. */
const HEAD_BYTES = 1_024
const DECLARED = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/i
const OF_CONTENT_TYPE = /;\s*charset\s*=\s*"?([\w.:-]+)"?/i

export function decodedText(bytes: Uint8Array, contentType: string | null): string {
  const labels = [byMark(bytes), OF_CONTENT_TYPE.exec(contentType ?? '')?.[1], byBeginning(bytes), 'utf-8']
  for (const label of labels) {
    const decoder = label === undefined ? undefined : decoderOf(label)
    if (decoder !== undefined) return withQuotes(decoder.decode(bytes), decoder.encoding)
  }
  return new TextDecoder().decode(bytes)
}

/** Publishers invent labels: an unknown one says nothing. */
function decoderOf(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}

/** What Windows-1252 has at 0x80 to 0x9f. Some versions of Node read it as Latin-1, which has control characters there. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

const withQuotes = (text: string, encoding: string): string =>
  encoding === 'windows-1252'
    ? text.replace(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character)
    : text

function byMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return undefined
}

function byBeginning(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0x3c && bytes[1] === 0) return 'utf-16le'
  if (bytes[0] === 0 && bytes[1] === 0x3c) return 'utf-16be'
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString('latin1')
  const label = DECLARED.exec(head)?.[1]
  // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
  return label !== undefined && /^(utf-?16|ucs-?2)/i.test(label) ? undefined : label
}
