import { testScenarios } from './scenario-suite.ts'

testScenarios('f23')
