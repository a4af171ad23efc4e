#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=56
#SBATCH --mem=1000M
srun ./all-cores
