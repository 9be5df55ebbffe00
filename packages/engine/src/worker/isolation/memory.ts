// How much memory a process has, seen from outside: one whose event loop is blocked cannot say it itself.
import { readFileSync } from 'node:fs'

/** Resident megabytes, Buffers included. Undefined where there is no /proc, and for a process that is gone. */
export function residentMb(pid: number): number | undefined {
  try {
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return match === null ? undefined : Number(match[1]) / 1024
  } catch {
    return undefined
  }
}
