#!/bin/bash
# usage: rotate.sh FOLDER KEEP
# Keeps the KEEP newest files of FOLDER by name and moves the others to FOLDER/old.
cd $1
mkdir old
count=`ls | wc -l`
for file in `ls`
do
  if [ $count > $2 ]
  then
    mv $file old
    count=$count-1
  fi
done
