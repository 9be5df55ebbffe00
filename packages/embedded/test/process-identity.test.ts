import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { poll } from '#src/poll'
import { isRunning, lifeOf, ownToken, ps, tokenOf } from '#src/process-identity'

it('knows a living process, and that it is gone afterwards', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const token = tokenOf(child.pid as number) as string
  expect(token).toMatch(new RegExp(`^${child.pid}\\.[\\w-]+$`))
  expect(lifeOf(token)).toBe('alive')
  const exited = once(child, 'exit')
  child.kill()
  await exited
  expect(lifeOf(token)).toBe('gone')
  expect(isRunning(child.pid as number)).toBe(false)
})

it('is not fooled by a process that got the same pid later', () => {
  expect(lifeOf(ownToken())).toBe('alive')
  expect(lifeOf(ownToken().replace(/\d+$/, '1'))).toBe('gone')
})

it.runIf(process.platform === 'linux')(
  'calls everything from before a reboot gone, another container elsewhere',
  () => {
    const [boot, namespace, tick] = (ownToken().split('.')[1] as string).split('-')
    expect(lifeOf(`${process.pid}.00000000-${namespace}-${tick}`)).toBe('gone')
    expect(lifeOf(`${process.pid}.${boot}-1-${tick}`)).toBe('elsewhere')
  },
)

it('does not count a zombie as running', async () => {
  // The shell starts a process and then becomes a `sleep`, which never collects it.
  const shell = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 61'])
  const [output] = await once(shell.stdout, 'data')
  const zombie = Number(output)
  await becomesTrue(() => ps(shell.pid as number, ['command']) === 'sleep 61')
  process.kill(zombie, 'SIGKILL')
  await becomesTrue(() => !isRunning(zombie))
  expect(() => process.kill(zombie, 0)).not.toThrow()
  shell.kill()
})

async function becomesTrue(condition: () => boolean): Promise<void> {
  const expired = () => new Error(`${condition} did not become true`)
  await poll(() => (condition() ? true : undefined), { withinMs: 10_000, expired })
}
