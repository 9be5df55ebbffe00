import { createHash } from 'node:crypto'

/** Names of keys carry no personal data, whatever a program calls its locks and events. */
export const hashed = (text: string): string => createHash('sha256').update(text).digest('base64url')
