// Starts the sandbox of Dartwing in a process of its own.
import { fileURLToPath } from 'node:url'
import { startSandboxProcess } from '@millrace/sandbox'
import { z } from 'zod'
import type { RunningSandbox } from '../dartwing.ts'

const MAIN = fileURLToPath(new URL('main.js', import.meta.url))
const said = z.object({ url: z.url(), variables: z.record(z.string(), z.string()) })

export async function startSandbox(): Promise<RunningSandbox> {
  const { addresses, stop } = await startSandboxProcess(MAIN)
  return { ...said.parse(addresses), stop }
}
