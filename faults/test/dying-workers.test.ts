import { testScenarios } from './scenario-suite.ts'

testScenarios('f01', 'f01b', 'f01c', 'f02', 'f15', 'f18', 'f18b')
