// The demo is an optional package, as the embedded Postgres is: production installs the command without it.
import { Refused } from './failure.ts'

type Demo = typeof import('@millrace/demo')

/** The package, or a sentence that says how to get it. */
export async function demoPackage(): Promise<Demo> {
  try {
    return await import('@millrace/demo')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Refused('The demo is not installed: run `npm install --save-dev @millrace/demo`, then try again.')
  }
}

/** The errors of the package are meant for people, so they are shown without a stack. */
export async function told<Result>({ DemoRefused }: Demo, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof DemoRefused ? new Refused(error.message, { cause: error }) : error
  }
}
